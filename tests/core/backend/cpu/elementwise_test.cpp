// What the loops of our own kernels refuse and share among threads.
#include "core/ops/elementwise.h"

#include <array>
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "core/backend/cpu/cpu_backend.h"
#include "core/backend/cpu/parallel.h"
#include "core/ops/indexing.h"
#include "core/ops/reduce.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

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
  const TensorType indices{{2}, Dtype::i64}, bytes{{2}, Dtype::u8};
  EXPECT_ERROR("cpu: one_hot: float16 is not supported; cast to another type first",
               plan(OneHot(3, Dtype::f16), {indices}));
  EXPECT_ERROR("cpu: reduce_sum: uint8 is not supported; cast to another type first", plan(ReduceSum(), {bytes}));
}

TEST_F(RefusalTest, BroadcastingHasALimit) {
  const Shape odd{2, 1, 2, 1, 2, 1, 2, 1, 2, 1}, even{1, 2, 1, 2, 1, 2, 1, 2, 1, 2};
  EXPECT_ERROR("add: broadcasting over more than 8 dimensions is not supported",
               plan(Add(), {{odd, Dtype::f32}, {even, Dtype::f32}}));
}

}  // namespace
}  // namespace gpubench
