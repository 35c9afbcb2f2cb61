#include "core/comm/reduce.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "core/base/denormals.h"
#include "core/math/half.h"

namespace gpubench {
namespace {

template <class T>
std::vector<T> reduced(Dtype dtype, Reduction reduction, std::vector<std::vector<T>> ranks) {
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> destinations;
  for (auto& rank : ranks) {
    sources.push_back(reinterpret_cast<const std::byte*>(rank.data()));
    destinations.push_back(reinterpret_cast<std::byte*>(rank.data()));
  }
  reduce(dtype, reduction, sources, destinations, ranks[0].size());
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    EXPECT_EQ(std::memcmp(ranks[rank].data(), ranks[0].data(), ranks[0].size() * sizeof(T)), 0);
  }
  return ranks[0];
}

TEST(Reduce, adds_in_the_order_of_ranks) {
  const float tiny = 0x1p-24F;  // lost when added to 1 one by one
  EXPECT_EQ(reduced<float>(Dtype::f32, Reduction::sum, {{1, tiny}, {tiny, tiny}, {tiny, 1}}),
            (std::vector<float>{1, 1 + 2 * tiny}));
  std::vector<float> a(5000), b(5000);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i), b[i] = static_cast<float>(i * i % 977);
  const auto sums = reduced<float>(Dtype::f32, Reduction::sum, {a, b});
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(sums[i], a[i] + b[i]);
}

TEST(Reduce, integers_keep_every_bit_and_wrap_around) {
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  EXPECT_EQ(reduced<std::int64_t>(Dtype::i64, Reduction::sum, {{large, -5}, {large, 7}, {1, -1}}),
            (std::vector<std::int64_t>{2 * large + 1, 1}));
  EXPECT_EQ(reduced<std::int64_t>(Dtype::i64, Reduction::max, {{large, -5}, {large + 1, -7}}),
            (std::vector<std::int64_t>{large + 1, -5}));
  EXPECT_EQ(reduced<std::int32_t>(Dtype::i32, Reduction::sum, {{std::numeric_limits<std::int32_t>::max()}, {1}}),
            (std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min()}));
}

TEST(Reduce, halves_are_rounded_once) {
  // Half a unit in the last place, twice: rounded to even in between, neither would be seen.
  const auto half = [](float x) { return math::to_float16(x).bits; };
  EXPECT_EQ(reduced<std::uint16_t>(Dtype::f16, Reduction::sum, {{half(1)}, {half(0x1p-11F)}, {half(0x1p-11F)}}),
            (std::vector<std::uint16_t>{half(1 + 0x1p-10F)}));
  const auto brain = [](float x) { return math::to_bfloat16(x).bits; };
  EXPECT_EQ(reduced<std::uint16_t>(Dtype::bf16, Reduction::sum, {{brain(1)}, {brain(0x1p-8F)}, {brain(0x1p-8F)}}),
            (std::vector<std::uint16_t>{brain(1 + 0x1p-7F)}));
  EXPECT_EQ(reduced<std::uint16_t>(Dtype::f16, Reduction::max, {{half(-2)}, {half(-3)}}),
            (std::vector<std::uint16_t>{half(-2)}));
}

TEST(Reduce, the_greatest_of_what_is_no_number_is_none) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto greatest = reduced<float>(Dtype::f32, Reduction::max, {{nan, 1, 2}, {1, nan, 3}, {2, 2, -4}});
  EXPECT_TRUE(std::isnan(greatest[0]));
  EXPECT_TRUE(std::isnan(greatest[1]));
  EXPECT_EQ(greatest[2], 3);
}

TEST(Reduce, the_thread_does_not_matter_to_sums_below_the_normal_range) {
  const float normal = std::numeric_limits<float>::min();
  const std::vector<std::vector<float>> ranks{{1.5F * normal}, {-normal}};
  const auto plain = reduced<float>(Dtype::f32, Reduction::sum, ranks);
  const FlushedDenormals flushed;
  EXPECT_EQ(reduced<float>(Dtype::f32, Reduction::sum, ranks), plain);
  EXPECT_EQ(plain[0], 0);
}

}  // namespace
}  // namespace gpubench
