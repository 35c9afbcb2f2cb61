// Where the system refuses threads, every stage says so or goes on with fewer; nothing waits for a thread that does not
// come, and once there are threads again, no element is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/map/map.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/reading.h"
#include "tests/core/data/stage_rows.h"
#include "tests/core/data/texts.h"
#include "tests/support/failing_threads.h"

namespace gpubench {
namespace {

class FewThreads : public testing::TestWithParam<StageRow> {
 protected:
  ~FewThreads() override { std::filesystem::remove(stage_cache_path()); }
};
INSTANTIATE_TEST_SUITE_P(All, FewThreads, testing::ValuesIn(stage_rows()),
                         [](const auto& p) { return test_name(p.param); });

/// The first element, or empty where the threads for it are missing.
std::string first_of(Cursor& cursor) {
  Element element;
  try {
    if (cursor.next(element)) return bytes_of(element);
  } catch (const std::exception&) {
  }
  return {};
}

TEST_P(FewThreads, CostNoElement) {
  const StageRow& row = GetParam();
  const std::vector<std::string> good = bytes_of(row.make(opaque(numbers(40))), 1);
  for (int allowed = 0; allowed < 5; ++allowed) {
    std::unique_ptr<Cursor> cursor;
    std::vector<std::string> found;
    {
      const FailingThreads failing(allowed);
      try {
        cursor = row.make(opaque(numbers(40)))->open(1);
      } catch (const std::exception&) {
        continue;
      }
      for (int attempt = 0; attempt < 3; ++attempt) {
        std::string first = first_of(*cursor);
        if (!first.empty()) found.push_back(std::move(first));
      }
    }
    for (std::string& element : bytes_of(*cursor)) found.push_back(std::move(element));
    EXPECT_EQ(found, good) << allowed << " threads";
  }
}

TEST(ScarceThreads, OfAMapThatWantsMoreIsAnErrorEachTime) {
  const FailingThreads failing(2);
  const auto cursor = map(opaque(numbers(40)), std::make_shared<Identity>(), {.workers = 3})->open(1);
  Element element;
  for (int attempt = 0; attempt < 3; ++attempt) EXPECT_ANY_THROW(cursor->next(element));
}

}  // namespace
}  // namespace gpubench
