// What the loops of our own kernels merge, refuse and share among threads.
#include "core/backend/cpu/elementwise.h"

#include <array>
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "core/backend/broadcast_plan.h"
#include "core/backend/cpu/cpu_backend.h"
#include "core/base/error.h"
#include "core/ops/binary.h"
#include "core/ops/reduce.h"
#include "core/ops/unary.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

template <std::size_t N>
cpu::BroadcastPlan<N> plan(const std::array<Shape, N>& inputs, const Shape& output) {
  std::vector<TensorType> types;
  for (const Shape& shape : inputs) types.push_back({shape, Dtype::f32});
  return cpu::plan_broadcast<N>("test", types, output);
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
    cpu::RowCursor<2> walked(both, 0);
    for (std::int64_t row = 0; row < start; ++row) walked.next();
    const cpu::RowCursor<2> placed(both, start);
    EXPECT_EQ(walked.offset(0), placed.offset(0));
    EXPECT_EQ(walked.offset(1), placed.offset(1));
  }
}

TEST(ParallelTest, EveryItemBelongsToOneThread) {
  std::array<std::atomic<int>, 1001> visits{};
  cpu::parallel_ranges(3, visits.size(), [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
  });
  for (const auto& count : visits) EXPECT_EQ(count, 1);
}

class RefusalTest : public testing::Test {
 protected:
  void plan(const Op& op, std::vector<TensorType> inputs) {
    const std::vector<TensorType> outputs = op.infer(inputs);
    cpu_.plan(op, {inputs, outputs}, *cpu_.devices()[0]);
  }
  std::array<CpuDeviceOptions, 1> options_{};
  CpuBackend cpu_{options_};
};

TEST_F(RefusalTest, TypesWithoutAKernelAreNamed) {
  const TensorType half{{2}, Dtype::f16}, bytes{{2}, Dtype::u8};
  EXPECT_THAT([&] { plan(Add(), {half, half}); }, ThrowsMessage<Error>("cpu: add: float16 is not supported"));
  EXPECT_THAT([&] { plan(Relu(), {half}); }, ThrowsMessage<Error>("cpu: relu: float16 is not supported"));
  EXPECT_THAT([&] { plan(ReduceSum(), {bytes}); }, ThrowsMessage<Error>("cpu: reduce_sum: uint8 is not supported"));
}

TEST_F(RefusalTest, BroadcastingHasALimit) {
  const Shape odd{2, 1, 2, 1, 2, 1, 2, 1, 2, 1}, even{1, 2, 1, 2, 1, 2, 1, 2, 1, 2};
  EXPECT_THAT(
      [&] {
        plan(Add(), {{odd, Dtype::f32}, {even, Dtype::f32}});
      },
      ThrowsMessage<Error>("cpu: add: broadcasting over more than 8 dimensions is not supported"));
}

}  // namespace
}  // namespace gpubench
