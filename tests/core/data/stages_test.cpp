// What holds for every stage, one row for each: the same epoch gives the same elements, passing over elements changes
// nothing about those that follow, and a cursor that goes leaves no thread and no memory behind.
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <set>

#include "core/data/stage/batch.h"
#include "core/data/stage/unbatch.h"
#include "tests/core/data/heap_pool.h"
#include "tests/core/data/reading.h"
#include "tests/core/data/stage_rows.h"
#include "tests/core/data/texts.h"

namespace gpubench {
namespace {

class Stages : public testing::TestWithParam<std::tuple<StageRow, bool>> {
 protected:
  ~Stages() override { std::filesystem::remove(stage_cache_path()); }
  static DatasetPtr dataset() {
    const auto& [row, opaque_source] = GetParam();
    return row.make(opaque_source ? opaque(numbers(40)) : numbers(40));
  }
};
INSTANTIATE_TEST_SUITE_P(All, Stages, testing::Combine(testing::ValuesIn(stage_rows()), testing::Bool()),
                         [](const auto& p) {
                           return test_name(std::get<0>(p.param)) + (std::get<1>(p.param) ? "_elements" : "_rows");
                         });

TEST_P(Stages, TheSameEpochGivesTheSame) {
  const DatasetPtr stage = dataset();
  const std::vector<std::string> first = bytes_of(stage, 0), third = bytes_of(stage, 2);
  EXPECT_GT(first.size(), 4U);
  EXPECT_EQ(bytes_of(stage, 0), first);
  EXPECT_EQ(bytes_of(stage, 2), third);
}

TEST_P(Stages, PassingOverElementsChangesNothingElse) {
  const DatasetPtr stage = dataset();
  const std::vector<std::string> all = bytes_of(stage, 1);
  for (const std::size_t count : {0, 1, 3, 8, 1000}) {
    const std::unique_ptr<Cursor> cursor = dataset()->open(1);
    const std::size_t passed = std::min(count, all.size());
    EXPECT_EQ(cursor->skip(static_cast<std::int64_t>(count)), static_cast<std::int64_t>(passed));
    EXPECT_EQ(bytes_of(*cursor), std::vector(all.begin() + static_cast<std::ptrdiff_t>(passed), all.end()));
  }
}

TEST_P(Stages, PassingOverFromTheMiddleToo) {
  const DatasetPtr stage = dataset();
  std::vector<std::string> expected = bytes_of(stage, 1);
  const std::unique_ptr<Cursor> cursor = dataset()->open(1);
  Element element;
  ASSERT_TRUE(cursor->next(element) && cursor->next(element));
  EXPECT_EQ(cursor->skip(2), 2);
  expected.erase(expected.begin(), expected.begin() + 4);
  EXPECT_EQ(bytes_of(*cursor), expected);
}

TEST_P(Stages, CountsWhatItGives) {
  const std::unique_ptr<Cursor> cursor = dataset()->open();
  std::int64_t elements = 0, bytes = 0;
  for (Element element; cursor->next(element); ++elements) {
    for (const HostTensor& tensor : element) bytes += static_cast<std::int64_t>(tensor.bytes());
  }
  EXPECT_EQ(cursor->statistics().back().produced, elements);
  EXPECT_EQ(cursor->statistics().back().bytes, bytes);
}

TEST_P(Stages, ABatchGetsTheSameElements) {
  const DatasetPtr stage = dataset();
  const std::int64_t size = is_fixed(stage->element_types()) ? 3 : 1;
  EXPECT_EQ(bytes_of(unbatch(batch(stage, size)), 1), bytes_of(stage, 1));
}

TEST_P(Stages, LeavingEarlyLeavesNothingBehind) {
  const std::ptrdiff_t before = thread_count();
  const std::unique_ptr<MemoryPool> pool = heap_pool();
  {
    const DatasetPtr stage = dataset();
    const std::unique_ptr<Cursor> cursor = stage->open(0, {.memory = pool.get()});
    Element element;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(cursor->next(element));
    EXPECT_FALSE(cursor->statistics().empty());
    EXPECT_EQ(cursor->statistics().back().produced, 3);
  }
  expect_threads(before);
  EXPECT_EQ(pool->use().in_use, 0U);
}

TEST(StageTable, HasARowForEveryStage) {
  // These need files, and are tested with them.
  // Sources that read files, in tests of their own.
  const std::set<std::string> elsewhere{"csv", "list_files", "tfrecord"};
  std::set<std::string> tested;
  for (const StageRow& row : stage_rows())
    tested.insert(std::string(row.name).substr(0, std::string(row.name).find(' ')));
  const std::regex definition("constexpr std::string_view stage_name = \"(\\w+)\"");
  for (const auto& entry : std::filesystem::directory_iterator(GPUBENCH_SOURCE_DIR "/core/data")) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::smatch found;
    if (!std::regex_search(text, found, definition) || elsewhere.contains(found[1])) continue;
    EXPECT_TRUE(tested.contains(found[1])) << found[1] << " (" << entry.path() << ") has no row in this test";
  }
}

}  // namespace
}  // namespace gpubench
