#include "core/tensor/tensor_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::HasSubstr;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

TEST(TensorType, CountsElementsAndBytes) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ((TensorType{{2, 3, 4}, Dtype::i64}.bytes()), 192U);
  EXPECT_EQ((TensorType{{2, 0, 4}, Dtype::f32}.bytes()), 0U);
  EXPECT_EQ((TensorType{{max_bytes}, Dtype::u8}.bytes()), static_cast<std::size_t>(max_bytes));
}

TEST(TensorType, RefusesSizesThatNoMemoryHas) {
  const Shape shapes[] = {{max_bytes / 4 + 1},
                          {std::int64_t{1} << 62},
                          {std::int64_t{1} << 31, std::int64_t{1} << 31},
                          {3, largest / 3 + 1},
                          {largest, largest, largest},
                          {0, largest},
                          {std::int64_t{1} << 40, 0, std::int64_t{1} << 40}};
  for (const Shape& shape : shapes) {
    EXPECT_ERROR(
        "float32" + to_string(shape) + " is too large for any memory; at most 2^47 bytes (128 TiB) are possible",
        (void)TensorType{shape}.bytes());
    EXPECT_ERROR(HasSubstr("resize: float32["), check_size({shape}, "resize"));
  }
  const Shape wide{largest, 2};
  EXPECT_ERROR(HasSubstr("too large for any memory"), element_count(wide));
}

TEST(TensorType, RefusesNegativeExtents) {
  const Shape shape{2, -5};
  const TensorType type{{0, -1}};
  EXPECT_ERROR("[2, -5] has a negative extent; 0 and more are possible", element_count(shape));
  EXPECT_ERROR("float32[0, -1] has a negative extent; 0 and more are possible", (void)type.bytes());
}

TEST(TensorType, LimitsTheRank) {
  EXPECT_EQ(element_count(Shape(max_rank, 1)), 1);
  EXPECT_ERROR("a tensor of rank 100000; at most 32 is possible", element_count(Shape(100'000, 1)));
}

}  // namespace
}  // namespace gpubench
