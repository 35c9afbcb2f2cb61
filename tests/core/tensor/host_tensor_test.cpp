#include "core/tensor/host_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

HostTensor counting(Shape shape) {
  HostTensor tensor(TensorType{std::move(shape), Dtype::i32});
  std::int32_t next = 0;
  for (std::int32_t& value : tensor.values<std::int32_t>()) value = next++;
  return tensor;
}

TEST(HostTensor, RowsShareStorage) {
  const HostTensor all = counting({4, 3});
  const HostTensor rows = all.rows(1, 3);
  EXPECT_EQ(rows.shape(), (Shape{2, 3}));
  EXPECT_EQ(rows.data(), all.data() + 3 * sizeof(std::int32_t));
  EXPECT_THAT(all.rows(2, 3).values<std::int32_t>(), testing::ElementsAre(6, 7, 8));
  EXPECT_EQ(all.rows(4, 4).elements(), 0);
}

TEST(HostTensor, RefusesRowsOutOfRange) {
  const HostTensor all = counting({4, 3});
  EXPECT_ERROR("slice: rows 2 to 5 of a tensor with 4 rows", all.rows(2, 5));
  EXPECT_ERROR("slice: a scalar has no rows", HostTensor::scalar(1.0F).rows(0, 1));
}

TEST(HostTensor, ReshapeKeepsElements) {
  const HostTensor flat = counting({2, 6}).reshaped({12});
  EXPECT_EQ(flat.values<std::int32_t>()[11], 11);
  EXPECT_ERROR("reshape: int32[12] has 12 elements, [5] needs 5", flat.reshaped({5}));
}

TEST(HostTensor, MemoryIsAligned) {
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(counting({1}).data()) % HostTensor::alignment, 0U);
}

}  // namespace
}  // namespace gpubench
