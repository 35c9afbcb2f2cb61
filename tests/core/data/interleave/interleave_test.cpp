#include "core/data/interleave/interleave.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/source/range.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/repeat.h"
#include "core/data/tune/machine_limits.h"
#include "core/data/tune/pipeline.h"
#include "tests/core/data/ragged.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

/// Numbers [first, last) as elements of numbers().
DatasetPtr part(std::int64_t first, std::int64_t last) {
  return take(skip(numbers(100), first), last - first);
}
std::vector<DatasetPtr> parts() {
  return {part(0, 3), part(10, 11), part(20, 24), part(30, 32)};
}

TEST(Interleave, TakesTurns) {
  EXPECT_EQ(read(interleave({part(0, 3), part(3, 5)}, {})), counting(0, 5));
  EXPECT_THAT(read(interleave(parts(), {.cycle_length = 2})), ElementsAre(0, 10, 1, 2, 20, 21, 30, 22, 31, 23));
  EXPECT_THAT(read(interleave(parts(), {.cycle_length = 9})), ElementsAre(0, 10, 20, 30, 1, 21, 31, 2, 22, 23));
  EXPECT_THAT(read(interleave(parts(), {.cycle_length = 2, .block_length = 2})),
              ElementsAre(0, 1, 10, 2, 20, 21, 30, 31, 22, 23));
  EXPECT_EQ(interleave(parts(), {.cycle_length = 2})->size(), 10);
  EXPECT_EQ(interleave({part(0, 3), repeat(numbers(2))}, {})->size(), endless);
}

TEST(Interleave, SumsUpItsInputsFigures) {
  const std::unique_ptr<Cursor> cursor = interleave(parts(), {.cycle_length = 2})->open();
  read(*cursor);
  const std::vector<StageStatistics> rows = cursor->statistics();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[2].stage, "take");
  EXPECT_EQ(rows[2].produced, 10);
  EXPECT_EQ(rows[3].stage, "interleave");
  EXPECT_EQ(rows[3].produced, 10);
}

TEST(Interleave, AFunctionMakesInputsFromElements) {
  const auto from = [](const Element& element) {
    const std::int64_t number = element[0].values<std::int64_t>()[0];
    return part(10 * number, 10 * number + 2);
  };
  const DatasetPtr dataset = interleave(range(0, 3), from, {.cycle_length = 2});
  EXPECT_THAT(read(dataset), ElementsAre(0, 10, 1, 11, 20, 21));
  EXPECT_EQ(dataset->size(), std::nullopt);
  EXPECT_EQ(describe(*dataset), "range(start=0 count=3 step=1) > interleave(cycle=2 block=1)");
}

int threads_of(const DatasetPtr& dataset) {
  const std::unique_ptr<Cursor> cursor = open_pipeline(*dataset);
  Element element;
  cursor->next(element);
  for (const StageStatistics& row : cursor->statistics()) {
    if (row.stage == "interleave") return row.workers;
  }
  return -1;
}

TEST(Interleave, AutotuneStartsWithAThreadForEachCoreWithinThePipelines) {
  const std::vector<DatasetPtr> inputs(6, numbers(3));
  const DatasetPtr tuned = interleave(inputs, {.cycle_length = 5, .parallel = autotune});
  EXPECT_GE(threads_of(tuned), std::min(5, schedulable_cores()));
  EXPECT_LE(threads_of(tuned), 5);
  EXPECT_EQ(threads_of(options(tuned, {.threads = 1})), 1);
  EXPECT_EQ(threads_of(options(interleave(inputs, {.cycle_length = 5, .parallel = 4}), {.threads = 3})), 4);
}

TEST(Interleave, OnlyThreadsInAnyOrderLeaveTheOrderOpen) {
  const std::vector<DatasetPtr> inputs(3, numbers(3));
  EXPECT_TRUE(interleave(inputs, {.parallel = 2})->in_order());
  EXPECT_TRUE(interleave(inputs, {.deterministic = false})->in_order());
  EXPECT_FALSE(batch(interleave(inputs, {.parallel = 2, .deterministic = false}), 2)->in_order());
}

TEST(Interleave, RefusesInputsThatDoNotFit) {
  EXPECT_ERROR("interleave: no datasets given; at least one is needed", interleave(std::vector<DatasetPtr>{}, {}));
  EXPECT_ERROR(
      "interleave: elements (int64[], float32[2]) and "
      "(int64[]) differ in more than their extents",
      interleave({numbers(2), range(0, 2)}, {}));
  EXPECT_ERROR("interleave: a cycle length of 0; at least 1 is needed", interleave({numbers(2)}, {.cycle_length = 0}));
  EXPECT_ERROR("interleave: a block length of 0; at least 1 is needed", interleave({numbers(2)}, {.block_length = 0}));
  EXPECT_ERROR("interleave: -2 parallel calls; 0 to 128 are possible, or AUTOTUNE",
               interleave({numbers(2)}, {.parallel = -2}));
  EXPECT_ERROR("interleave: 129 parallel calls; 0 to 128 are possible, or AUTOTUNE",
               interleave({numbers(2)}, {.parallel = 129}));
  const auto changing = [](const Element& element) {
    return element[0].values<std::int64_t>()[0] == 0 ? numbers(2) : range(0, 2);
  };
  EXPECT_ERROR(
      "interleave: the function gave a dataset of (int64[], float32[2]) before, and now "
      "one of (int64[])",
      read(interleave(range(0, 2), changing, {})));
  EXPECT_ERROR("interleave: the source never ends; use take", interleave(range(0, endless), changing, {}));
}

/// Does not tell how many elements it has.
class Unsized final : public Transformation {
 public:
  using Transformation::Transformation;
  std::string_view stage() const override { return "unsized"; }
  std::optional<std::int64_t> size() const override { return std::nullopt; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return source().open(epoch, options);
  }
};

TEST(Interleave, MakesNoMoreInputsThanItCanHold) {
  const auto same = [input = numbers(1)](const Element& /*element*/) { return input; };
  EXPECT_ERROR(
      "interleave: a source of 1073741824 elements, for each of which an input would be "
      "made; at most 1048576 are possible",
      interleave(range(0, 1 << 30), same, {}));
  const auto inputs = [&](std::int64_t count) {
    return interleave(std::make_shared<Unsized>(range(0, count)), same, {});
  };
  Element element;
  EXPECT_TRUE(inputs(1 << 20)->open()->next(element));
  EXPECT_ERROR(
      "interleave: the source has more than 1048576 elements, for each of which an input "
      "would be made; take fewer",
      inputs((1 << 20) + 1)->open());
}

}  // namespace
}  // namespace gpubench
