// What every stage makes of an element that cannot be made: the error passes, what comes behind it is what would have
// come without it, and a stage that cannot go on says so once and for all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/interleave/interleave.h"
#include "core/data/map/map.h"
#include "core/data/source/range.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/combine.h"
#include "core/data/stage/filter.h"
#include "core/data/stage/ignore_errors.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/shuffle.h"
#include "core/data/stage/unbatch.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/reading.h"
#include "tests/core/data/stage_rows.h"
#include "tests/core/data/texts.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

class StageErrors : public testing::TestWithParam<StageRow> {
 protected:
  ~StageErrors() override { std::filesystem::remove(stage_cache_path()); }
};
INSTANTIATE_TEST_SUITE_P(All, StageErrors, testing::ValuesIn(stage_rows()),
                         [](const auto& p) { return test_name(p.param); });

TEST_P(StageErrors, BehindAnErrorTheStageGoesOn) {
  const StageRow& row = GetParam();
  const std::vector<std::string> good = bytes_of(row.make(opaque(numbers(40))), 1);
  const std::unique_ptr<Cursor> cursor =
      ignore_errors(row.make(std::make_shared<Damaged>(opaque(numbers(40)), 20)))->open(1);
  const std::vector<std::string> found = bytes_of(*cursor);
  if (row.element_wise) {
    EXPECT_EQ(found, good);
  }
  EXPECT_LE(found.size(), good.size());
  for (const std::string& element : found) EXPECT_FALSE(element.empty());
}

TEST_P(StageErrors, ErrorsAreCounted) {
  const StageRow& row = GetParam();
  const DatasetPtr stage = row.make(std::make_shared<Damaged>(opaque(numbers(40)), 2));
  const bool reads_the_source = describe(*stage).find("damaged") != std::string::npos;
  const std::unique_ptr<Cursor> cursor = ignore_errors(stage)->open(1);
  bytes_of(*cursor);
  const std::vector<StageStatistics> stages = cursor->statistics();
  std::int64_t errors = 0;
  for (const StageStatistics& figures : stages) errors += figures.errors;
  if (reads_the_source) {
    EXPECT_GE(errors, 1);
  }
}

TEST(Errors, BehindParallelStagesAreCountedToo) {
  const DatasetPtr failing = map(numbers(30), fails_at(7, 4), {.workers = 2});
  for (const DatasetPtr& dataset : {failing, prefetch(failing, 2), prefetch(shuffle(failing, {.buffer = 5}), 3)}) {
    const std::unique_ptr<Cursor> cursor = ignore_errors(dataset)->open();
    EXPECT_EQ(read(*cursor).size(), 29U);
    EXPECT_EQ(cursor->statistics().back().errors, 1);
  }
}

TEST(Errors, OneInABatchOfAParallelMapCostsThatBatch) {
  const DatasetPtr dataset = prefetch(batch(map(numbers(12), fails_at(4, 4), {.workers = 2}), 3), 2);
  const std::unique_ptr<Cursor> cursor = ignore_errors(dataset)->open();
  EXPECT_THAT(read(*cursor), ElementsAre(1, 2, 3, 7, 8, 9, 10, 11, 12));
  EXPECT_EQ(cursor->statistics().back().errors, 1);
}

TEST(Errors, OfOneInputOfARaceLeaveTheOthers) {
  const InterleaveOptions any{.cycle_length = 2, .parallel = 2, .deterministic = false};
  const DatasetPtr dataset = interleave({std::make_shared<Damaged>(numbers(9), 3), numbers(30)}, any);
  const std::unique_ptr<Cursor> cursor = ignore_errors(dataset)->open();
  EXPECT_EQ(read(*cursor).size(), 39U);
  EXPECT_EQ(cursor->statistics().back().errors, 1);
}

TEST(Errors, ZippedElementsStayBesideTheirOwn) {
  const auto beside = [](DatasetPtr first, DatasetPtr second) {
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
    const std::unique_ptr<Cursor> cursor = ignore_errors(zip({std::move(first), std::move(second)}))->open();
    for (Element element; cursor->next(element);) {
      pairs.emplace_back(element[0].values<std::int64_t>()[0], element[1].values<std::int64_t>()[0]);
    }
    return pairs;
  };
  const auto identity_but = [](std::int64_t bad) {
    const auto all = [bad](std::int64_t number) {
      if (number == bad) throw Error("no such number");
      return true;
    };
    return filter(range(0, 4), std::make_shared<Predicate>(all));
  };
  const auto expected = ElementsAre(std::pair(0, 0), std::pair(2, 2), std::pair(3, 3));
  EXPECT_THAT(beside(identity_but(1), range(0, 4)), expected);
  EXPECT_THAT(beside(range(0, 4), identity_but(1)), expected);
}

TEST(Errors, AllShardsLeaveOutTheSame) {
  std::vector<std::int64_t> found;
  for (std::int64_t index = 0; index < 3; ++index) {
    const auto damaged = std::make_shared<Damaged>(opaque(numbers(40)), 20);
    const std::vector<std::int64_t> part = read(ignore_errors(shard(damaged, 3, index)));
    found.insert(found.end(), part.begin(), part.end());
  }
  EXPECT_THAT(found, testing::UnorderedElementsAreArray(counting(0, 40)));
}

TEST(Errors, OfAFilterCostOneRow) {
  const auto odd = std::make_shared<Predicate>(
      [](std::int64_t number) -> bool {
        if (number == 5) throw Error("number 5");
        return number % 2 == 1;
      },
      50);
  for (const DatasetPtr& source : {numbers(12), opaque(numbers(12))}) {
    const std::unique_ptr<Cursor> cursor = ignore_errors(filter(source, odd))->open();
    EXPECT_THAT(read(*cursor), ElementsAre(1, 3, 7, 9, 11));
  }
}

TEST(Errors, ARepetitionOfNothingEnds) {
  const DatasetPtr nothing = filter(numbers(3), std::make_shared<Predicate>([](std::int64_t) { return false; }));
  const std::string text = "repeat: the dataset is empty; there is nothing to repeat";
  EXPECT_ERROR(text, read(ignore_errors(repeat(nothing))));
  EXPECT_ERROR(text, read(ignore_errors(prefetch(repeat(nothing), 2))));
}

/// Elements of two tensors with unequal numbers of rows in element `bad`.
class Uneven final : public Dataset {
 public:
  std::string_view stage() const override { return "uneven"; }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::optional<std::int64_t> size() const override { return 3; }
  std::unique_ptr<Cursor> open(std::uint64_t, const CursorOptions&) const override {
    class UnevenCursor final : public Cursor {
     public:
      bool next(Element& element) override {
        if (position_ == 3) return false;
        element = {HostTensor(TensorType{{2}, Dtype::i64}),
                   HostTensor(TensorType{{position_ == 1 ? 1 : 2}, Dtype::i64})};
        ++position_;
        return true;
      }
      std::vector<StageStatistics> statistics() const override { return {}; }

     private:
      int position_ = 0;
    };
    return std::make_unique<UnevenCursor>();
  }

 private:
  std::vector<TensorType> types_{{{varying}, Dtype::i64}, {{varying}, Dtype::i64}};
};

TEST(Errors, UnevenRowsArePassedOver) {
  EXPECT_EQ(bytes_of(ignore_errors(unbatch(std::make_shared<Uneven>())), 0).size(), 4U);
}

}  // namespace
}  // namespace gpubench
