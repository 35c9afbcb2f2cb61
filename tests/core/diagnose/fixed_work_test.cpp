#include "core/diagnose/fixed_work.h"

#include <gtest/gtest.h>

#include "tests/core/diagnose/row.h"

namespace gpubench::fixed_work_test {
namespace {

using support::trained_row;

Record row_of(std::int64_t batch, double flops, const Record& more = {}) {
  Record row = trained_row({{"batch_size", batch}, {"flops_per_step", flops}, {"width", std::int64_t{8}}});
  for (const auto& [column, cell] : more.cells()) row.set(column, cell);
  return row;
}

Cell fixed_of_first(std::vector<Record> rows) {
  return with_fixed_work(std::move(rows), std::vector<std::string>{"width", "batch_size"})[0].get(
      "fixed_flops_per_step");
}

TEST(FixedWork, FollowsFromPointsThatDifferInTheBatchOnly) {
  EXPECT_EQ(fixed_of_first({row_of(1, 130), row_of(4, 220)}), Cell(100.0));
  EXPECT_EQ(fixed_of_first({row_of(4, 220), row_of(1, 130)}), Cell(100.0));
  EXPECT_EQ(fixed_of_first({row_of(1, 130, {{"fixed_flops_per_step", 7.0}}), row_of(4, 220)}), Cell(7.0))
      << "the row says it itself";
}

TEST(FixedWork, OfOtherPointsIsNotKnown) {
  EXPECT_EQ(fixed_of_first({row_of(1, 130)}), Cell{});
  EXPECT_EQ(fixed_of_first({row_of(1, 130), row_of(1, 140)}), Cell{});
  EXPECT_EQ(fixed_of_first({row_of(1, 130), row_of(4, 220, {{"width", std::int64_t{9}}})}), Cell{});
  EXPECT_EQ(fixed_of_first({row_of(1, 130), row_of(4, 220, {{"execution", std::string("eager")}})}), Cell{});
  EXPECT_EQ(fixed_of_first({row_of(1, 130), row_of(4, 1000)}), Cell{}) << "the work per example differs";
  EXPECT_EQ(fixed_of_first({row_of(4, 220), row_of(1, 300)}), Cell{}) << "less for more examples";
}

}  // namespace
}  // namespace gpubench::fixed_work_test
