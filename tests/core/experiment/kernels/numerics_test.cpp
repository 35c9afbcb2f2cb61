#include "core/experiment/kernels/numerics.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), no_number = std::numeric_limits<float>::quiet_NaN();

TEST(NumericRange, CountsWhatFloat16Has) {
  constexpr std::array values{0.0F,     -1.0F,    65504.0F, -65520.0F, 0x1p-14F, 0x1p-15F,
                              0x1p-24F, 0x1p-25F, 0x1p-26F, infinity,  no_number};
  const NumericRange range = numeric_range(values, Dtype::f16);
  EXPECT_EQ(range.elements, 11);
  EXPECT_EQ(range.zeros, 1);
  EXPECT_EQ(range.not_finite, 2);
  EXPECT_EQ(range.overflows, 1);   // 65520
  EXPECT_EQ(range.underflows, 4);  // 2^-15 and below
  EXPECT_EQ(range.lost, 2);        // 2^-25, a tie with zero, and 2^-26
  EXPECT_EQ(range.largest, 65520);
  EXPECT_EQ(range.smallest, 0x1p-26);
}

TEST(NumericRange, Bfloat16HasTheRangeOfFloat32) {
  constexpr std::array values{1e-30F, 1e30F, 3.4e38F, 1e-40F};
  const NumericRange narrow = numeric_range(values, Dtype::bf16), wide = numeric_range(values, Dtype::f32);
  EXPECT_EQ(narrow.overflows, 1);  // its largest number is 3.39e38
  EXPECT_EQ(wide.overflows, 0);
  EXPECT_EQ(narrow.underflows, 1);
  EXPECT_EQ(wide.underflows, 1);
  EXPECT_EQ(narrow.lost + wide.lost, 0);
}

TEST(NumericRange, OfNothingIsEmpty) {
  const NumericRange range = numeric_range({}, Dtype::f16);
  EXPECT_EQ(range.elements, 0);
  EXPECT_EQ(range.largest, 0);
}

TEST(NumericRange, TypesWithoutARangeAreRefused) {
  EXPECT_THAT(
      [] { numeric_range({}, Dtype::i32); },
      testing::ThrowsMessage<Error>("numerics: values are judged as float32, float16 or bfloat16, not as int32"));
}

}  // namespace
}  // namespace gpubench
