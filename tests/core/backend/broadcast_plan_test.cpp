#include "core/backend/broadcast_plan.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

namespace gpubench {
namespace {

using testing::ElementsAre;

template <std::size_t N>
BroadcastPlan<N> plan(const std::array<Shape, N>& inputs, const Shape& output) {
  std::vector<TensorType> types;
  for (const Shape& shape : inputs) types.push_back({shape, Dtype::f32});
  return plan_broadcast<N>("test", types, output);
}

TEST(BroadcastPlanTest, SameShapesAndScalarsBecomeOneLoop) {
  const auto same = plan<2>({Shape{2, 3, 4}, Shape{2, 3, 4}}, {2, 3, 4});
  EXPECT_EQ(same.rows, 1);
  EXPECT_EQ(same.inner, 24);
  EXPECT_THAT(same.inner_strides, ElementsAre(1, 1));
  const auto scalar = plan<2>({Shape{2, 3, 4}, Shape{1, 1}}, {2, 3, 4});
  EXPECT_EQ(scalar.inner, 24);
  EXPECT_THAT(scalar.inner_strides, ElementsAre(1, 0));
}

TEST(BroadcastPlanTest, ARowIsALoopPerRow) {
  const auto row = plan<2>({Shape{2, 3, 4}, Shape{4}}, {2, 3, 4});
  EXPECT_EQ(row.rows, 6);
  EXPECT_EQ(row.inner, 4);
  EXPECT_THAT(row.inner_strides, ElementsAre(1, 1));
  EXPECT_THAT(row.outer, ElementsAre(6));
  EXPECT_THAT(row.outer_strides[1], ElementsAre(0));
  const auto column = plan<2>({Shape{6, 4}, Shape{6, 1}}, {6, 4});
  EXPECT_THAT(column.inner_strides, ElementsAre(1, 0));
}

TEST(BroadcastPlanTest, TheCursorWalksRowsInOrderFromAnywhere) {
  const auto both = plan<2>({Shape{2, 1, 3, 1}, Shape{4, 1, 5}}, {2, 4, 3, 5});
  for (std::int64_t start = 0; start < both.rows; ++start) {
    RowCursor<2> walked(both, 0);
    for (std::int64_t row = 0; row < start; ++row) walked.advance();
    const RowCursor<2> placed(both, start);
    EXPECT_EQ(walked.offset(0), placed.offset(0));
    EXPECT_EQ(walked.offset(1), placed.offset(1));
  }
}

TEST(BroadcastPlanTest, TheCursorAdvancesByRunsOfEvenSteps) {
  const auto both = plan<2>({Shape{2, 1, 3, 1}, Shape{4, 1, 5}}, {2, 4, 3, 5});
  RowCursor<2> by_runs(both, 1);
  RowCursor<2> by_rows(both, 1);
  for (std::int64_t row = 1; row < both.rows;) {
    const std::int64_t run = by_runs.run();
    ASSERT_GE(run, 1);
    ASSERT_LE(row + run, both.rows);
    for (std::int64_t i = 0; i < run; ++i, ++row, by_rows.advance()) {
      EXPECT_EQ(by_rows.offset(0), by_runs.offset(0) + i * by_runs.step(0));
      EXPECT_EQ(by_rows.offset(1), by_runs.offset(1) + i * by_runs.step(1));
    }
    by_runs.advance(run);
  }
}

TEST(BroadcastPlanTest, AFlatLoopIsOneRun) {
  const RowCursor<1> cursor(plan<1>({Shape{6}}, {6}), 0);
  EXPECT_EQ(cursor.run(), 1);
  EXPECT_EQ(cursor.step(0), 0);
}

TEST(Walks, OverARowMajorTensor) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(row_major(shape).strides, (Strides{12, 4, 1}));
  EXPECT_EQ(transposed(shape, Shape{2, 0, 1}).strides, (Strides{1, 12, 4}));

  const Walk backward = reversed(shape, {false, true, true});
  EXPECT_EQ(backward.start, 2 * 4 + 3);
  EXPECT_EQ(backward.strides, (Strides{12, -4, -1}));

  const Walk every_second = sliced(shape, {1, 0, 1}, {1, 2, -1});
  EXPECT_EQ(every_second.start, 12 + 1);
  EXPECT_EQ(every_second.strides, (Strides{12, 8, -1}));
}

TEST(Walks, OverNothingBeginAtItsStart) {
  EXPECT_EQ(reversed({0, 3}, {true, true}).start, 0);
}

}  // namespace
}  // namespace gpubench
