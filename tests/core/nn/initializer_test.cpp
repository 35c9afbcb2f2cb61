#include "core/nn/initializer.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>

#include "core/math/half.h"
#include "core/math/philox.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

struct Moments {
  double mean = 0, stddev = 0, low = 0, high = 0;
};

Moments moments(const HostTensor& tensor) {
  Moments result;
  const auto values = tensor.values<float>();
  for (const float value : values) result.mean += static_cast<double>(value);
  result.mean /= static_cast<double>(values.size());
  for (const float value : values) result.stddev += std::pow(static_cast<double>(value) - result.mean, 2);
  result.stddev = std::sqrt(result.stddev / static_cast<double>(values.size()));
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  result.low = static_cast<double>(*low), result.high = static_cast<double>(*high);
  return result;
}

TEST(Initializer, UniformKindsStayInKerasLimits) {
  const Moments glorot = moments(parse_initializer("glorot_uniform").make({{200, 100}, Dtype::f32}, 1));
  const double limit = std::sqrt(6.0 / 300);
  EXPECT_GE(glorot.low, -limit);
  EXPECT_LT(glorot.high, limit);
  EXPECT_NEAR(glorot.stddev, limit / std::sqrt(3), 0.01 * limit);
  EXPECT_NEAR(glorot.mean, 0, 0.02 * limit);
  const Moments he = moments(parse_initializer("he_uniform").make({{200, 100}, Dtype::f32}, 1));
  EXPECT_NEAR(he.high, std::sqrt(6.0 / 200), 1e-3);
}

TEST(Initializer, NormalKindsHaveTheSpreadOfKerasAfterCutting) {
  const Moments glorot = moments(parse_initializer("glorot_normal").make({{200, 100}, Dtype::f32}, 1));
  const double wanted = std::sqrt(2.0 / 300);
  EXPECT_NEAR(glorot.stddev, wanted, 0.02 * wanted);
  EXPECT_LE(glorot.high, 2 * wanted / 0.8796);
  const Moments he = moments(parse_initializer("he_normal").make({{200, 100}, Dtype::f32}, 1));
  EXPECT_NEAR(he.stddev, std::sqrt(2.0 / 200), 0.02 * std::sqrt(2.0 / 200));
}

TEST(Initializer, FansOfFiltersCountTheWindow) {
  const Moments filters = moments(parse_initializer("glorot_uniform").make({{3, 3, 64, 32}, Dtype::f32}, 1));
  EXPECT_NEAR(filters.high, std::sqrt(6.0 / (9 * 64 + 9 * 32)), 1e-4);
}

/// A unit normal number within two of 0, as the first of the element's draws that is.
double truncated_normal(std::uint64_t seed, std::uint64_t element) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    const math::PhiloxWords words = math::philox(seed, attempt, element);
    const float drawn = math::to_normal(words.word[0], words.word[1]);
    if (std::abs(drawn) <= 2) return static_cast<double>(drawn);
  }
}

TEST(Initializer, EachElementDependsOnSeedAndPlaceAlone) {
  constexpr int count = 1000;  // no multiple of a block
  const HostTensor uniform = parse_initializer("random_uniform(minval=0, maxval=1)").make({{count}, Dtype::f32}, 5);
  const HostTensor normal = parse_initializer("random_normal(mean=0, stddev=1)").make({{count}, Dtype::f32}, 5);
  const HostTensor cut = parse_initializer("truncated_normal(mean=0, stddev=1)").make({{count}, Dtype::f32}, 5);
  for (std::uint64_t i = 0; i < count; ++i) {
    EXPECT_EQ(uniform.values<float>()[i], math::to_uniform(math::philox(5, 0, i / 4).word[i % 4])) << i;
    const math::PhiloxWords words = math::philox(5, 0, i);
    EXPECT_NEAR(normal.values<float>()[i], math::to_normal(words.word[0], words.word[1]), 1e-6) << i;
    EXPECT_NEAR(cut.values<float>()[i], truncated_normal(5, i), 1e-6) << i;
  }
}

TEST(Initializer, TakesArguments) {
  const Moments normal = moments(parse_initializer("random_normal(mean=2, stddev=0.5)").make({{10000}, Dtype::f32}, 3));
  EXPECT_NEAR(normal.mean, 2, 0.02);
  EXPECT_NEAR(normal.stddev, 0.5, 0.02);
  const Moments uniform =
      moments(parse_initializer("random_uniform(minval=1, maxval=2)").make({{1000}, Dtype::f32}, 3));
  EXPECT_GE(uniform.low, 1);
  EXPECT_LT(uniform.high, 2);
  EXPECT_EQ(parse_initializer("constant(value=0.25)").make({{2}, Dtype::f32}, 0).values<float>()[1], 0.25F);
}

TEST(Initializer, VarianceScalingIsTheFamilyOfTheOthers) {
  const TensorType type{{60, 40}, Dtype::f32};
  const auto same = [&](const char* a, const char* b) {
    const HostTensor one = parse_initializer(a).make(type, 5), other = parse_initializer(b).make(type, 5);
    return std::ranges::equal(one.values<float>(), other.values<float>());
  };
  EXPECT_TRUE(same("he_normal", "variance_scaling(scale=2, mode=fan_in, distribution=truncated_normal)"));
  EXPECT_TRUE(same("glorot_uniform", "variance_scaling(mode=fan_avg, distribution=uniform)"));
  EXPECT_TRUE(same("lecun_uniform", "variance_scaling(distribution=uniform)"));
  EXPECT_FALSE(same("lecun_normal", "variance_scaling(mode=fan_out)"));
  const std::string text = "variance_scaling(scale=0.5, mode=fan_out, distribution=untruncated_normal, seed=3)";
  EXPECT_EQ(to_string(parse_initializer(text)), text);
}

TEST(Initializer, TruncatedNormalKeepsItsDeviationAsKerasDoes) {
  const Moments cut = moments(parse_initializer("truncated_normal(mean=1, stddev=0.5)").make({{20000}, Dtype::f32}, 3));
  EXPECT_NEAR(cut.mean, 1, 0.02);
  EXPECT_NEAR(cut.stddev, 0.5 * 0.8796, 0.01);
  EXPECT_LE(cut.high, 2);
  EXPECT_GE(cut.low, 0);
}

TEST(Initializer, OrthogonalVectorsHaveLengthAndRightAngles) {
  for (const Shape& shape : {Shape{20, 8}, Shape{8, 20}, Shape{2, 4, 8}}) {
    const HostTensor made = parse_initializer("orthogonal(gain=2)").make({shape, Dtype::f32}, 4);
    const auto values = made.values<float>();
    const auto columns = static_cast<std::size_t>(shape.back()), rows = values.size() / columns;
    const bool by_row = rows < columns;
    const std::size_t vectors = std::min(rows, columns), length = std::max(rows, columns);
    const auto at = [&](std::size_t vector, std::size_t i) {
      return static_cast<double>(by_row ? values[vector * columns + i] : values[i * columns + vector]);
    };
    for (std::size_t a = 0; a < vectors; ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        double product = 0;
        for (std::size_t i = 0; i < length; ++i) product += at(a, i) * at(b, i);
        EXPECT_NEAR(product, a == b ? 4 : 0, 1e-5) << to_string(shape) << ' ' << a << ' ' << b;
      }
    }
  }
  EXPECT_ERROR("initializer 'orthogonal': needs a shape of two or more dimensions, got [3]",
               parse_initializer("orthogonal").make({{3}, Dtype::f32}, 1));
}

TEST(Initializer, RefusesWrongChoices) {
  EXPECT_ERROR(
      "initializer 'variance_scaling(mode=fan)': mode must be one of fan_in, fan_out, "
      "fan_avg, got 'fan'",
      parse_initializer("variance_scaling(mode=fan)"));
  EXPECT_ERROR("initializer 'variance_scaling(scale=0)': scale must be above 0, got 0",
               parse_initializer("variance_scaling(scale=0)"));
  EXPECT_ERROR(HasSubstr("unknown argument 'mode'"), parse_initializer("he_normal(mode=fan_in)"));
}

TEST(Initializer, NarrowValuesAreTheWideOnesRounded) {
  const Initializer he = parse_initializer("he_normal");
  const HostTensor wide = he.make({{50, 20}, Dtype::f32}, 7);
  const HostTensor half = he.make({{50, 20}, Dtype::f16}, 7), brain = he.make({{50, 20}, Dtype::bf16}, 7);
  EXPECT_EQ(half.dtype(), Dtype::f16);
  EXPECT_EQ(brain.dtype(), Dtype::bf16);
  for (std::size_t i = 0; i < wide.values<float>().size(); ++i) {
    const float value = wide.values<float>()[i];
    EXPECT_EQ(reinterpret_cast<const std::uint16_t*>(half.data())[i], math::to_float16(value).bits);
    EXPECT_EQ(reinterpret_cast<const std::uint16_t*>(brain.data())[i], math::to_bfloat16(value).bits);
  }
}

TEST(Initializer, SameSeedGivesTheSameBytes) {
  const Initializer he = parse_initializer("he_normal");
  const HostTensor a = he.make({{50, 20}, Dtype::f32}, 7), b = he.make({{50, 20}, Dtype::f32}, 7),
                   c = he.make({{50, 20}, Dtype::f32}, 8);
  EXPECT_TRUE(std::ranges::equal(a.values<float>(), b.values<float>()));
  EXPECT_FALSE(std::ranges::equal(a.values<float>(), c.values<float>()));
}

TEST(Initializer, TextRoundTrips) {
  for (const char* text : {"zeros", "ones", "glorot_uniform", "random_normal(mean=0, stddev=0.02)", "he_normal(seed=7)",
                           "random_uniform(minval=-1, maxval=1, seed=3)"}) {
    EXPECT_EQ(to_string(parse_initializer(text)), text);
  }
  EXPECT_EQ(parse_initializer("he_normal(seed=7)").seed, 7U);
}

TEST(Initializer, RefusesWhatItDoesNotKnow) {
  EXPECT_ERROR(HasSubstr("unknown initializer 'golden' (known: zeros, ones, constant"), parse_initializer("golden"));
  EXPECT_ERROR("initializer 'random_normal(spread=1)': unknown argument 'spread'",
               parse_initializer("random_normal(spread=1)"));
  EXPECT_ERROR("initializer 'random_normal(mean=x)': 'x' is no number", parse_initializer("random_normal(mean=x)"));
}

}  // namespace
}  // namespace gpubench
