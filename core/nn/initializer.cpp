#include "core/nn/initializer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fmt/ranges.h>
#include <numeric>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/math/half.h"
#include "core/math/philox.h"
#include "core/nn/named_arguments.h"

namespace gpubench {
namespace {

// Random values for initializers: functions of seed and element alone (core/math/philox.h), in blocks that vectorize.

constexpr std::size_t block = 64;  // elements whose numbers are drawn at once
using Block = std::array<float, block>;

/// Unit uniform numbers of elements from `first`, a multiple of 4: four neighbours share a counter.
void draw_uniform(Block& drawn, std::uint64_t seed, std::size_t first) {
#pragma omp simd
  for (std::size_t i = 0; i < block / 4; ++i) {
    const math::PhiloxWords words = math::philox(seed, 0, first / 4 + i);
    drawn[4 * i] = math::to_uniform(words.word[0]);
    drawn[4 * i + 1] = math::to_uniform(words.word[1]);
    drawn[4 * i + 2] = math::to_uniform(words.word[2]);
    drawn[4 * i + 3] = math::to_uniform(words.word[3]);
  }
}

float normal(std::uint64_t seed, std::uint64_t attempt, std::size_t element) {
  const math::PhiloxWords words = math::philox(seed, attempt, element);
  return math::to_normal(words.word[0], words.word[1]);
}

void draw_normal(Block& drawn, std::uint64_t seed, std::size_t first) {
#pragma omp simd
  for (std::size_t i = 0; i < block; ++i) {
    const math::PhiloxWords words = math::philox(seed, 0, first + i);
    drawn[i] = math::to_normal(words.word[0], words.word[1]);
  }
}

/// Normal numbers within two of 0: those beyond are drawn again.
void draw_truncated_normal(Block& drawn, std::uint64_t seed, std::size_t first) {
  draw_normal(drawn, seed, first);
  for (std::size_t i = 0; i < block; ++i) {
    for (std::uint64_t attempt = 1; std::abs(drawn[i]) > 2; ++attempt) drawn[i] = normal(seed, attempt, first + i);
  }
}

/// offset + scale * what each element draws.
template <auto draw>
void fill(std::span<float> values, std::uint64_t seed, double offset, double scale) {
  Block drawn;
  for (std::size_t first = 0; first < values.size(); first += block) {
    draw(drawn, seed, first);
    const std::span<float> part = values.subspan(first, std::min(block, values.size() - first));
    for (std::size_t i = 0; i < part.size(); ++i) {
      part[i] = static_cast<float>(offset + scale * static_cast<double>(drawn[i]));
    }
  }
}

/// Uniform in [low, high).
void fill_uniform(std::span<float> values, std::uint64_t seed, double low, double high) {
  fill<draw_uniform>(values, seed, low, high - low);
}

void fill_normal(std::span<float> values, std::uint64_t seed, double mean, double stddev) {
  fill<draw_normal>(values, seed, mean, stddev);
}

/// Normal values; those beyond two standard deviations of the mean are drawn again.
void fill_truncated_normal(std::span<float> values, std::uint64_t seed, double mean, double stddev) {
  fill<draw_truncated_normal>(values, seed, mean, stddev);
}

using Kind = Initializer::Kind;
using Fan = Initializer::Fan;
using Distribution = Initializer::Distribution;

/// The defaults of each name, and the names of its arguments.
struct NamedInitializer {
  Initializer of;
  std::string_view first_name = "", second_name = "";  // empty: takes no such argument
  bool chooses = false;                                // takes mode and distribution
};

constexpr Initializer scaled(std::string_view name, double scale, Fan fan, Distribution distribution) {
  return {name, Kind::variance_scaling, scale, 0, fan, distribution, {}};
}

constexpr std::array named_initializers = {
    NamedInitializer{{"zeros", Kind::constant, 0}},
    NamedInitializer{{"ones", Kind::constant, 1}},
    NamedInitializer{{"constant", Kind::constant, 0}, "value"},
    NamedInitializer{scaled("glorot_uniform", 1, Fan::average, Distribution::uniform)},
    NamedInitializer{scaled("glorot_normal", 1, Fan::average, Distribution::truncated_normal)},
    NamedInitializer{scaled("he_uniform", 2, Fan::in, Distribution::uniform)},
    NamedInitializer{scaled("he_normal", 2, Fan::in, Distribution::truncated_normal)},
    NamedInitializer{scaled("lecun_uniform", 1, Fan::in, Distribution::uniform)},
    NamedInitializer{scaled("lecun_normal", 1, Fan::in, Distribution::truncated_normal)},
    NamedInitializer{scaled("variance_scaling", 1, Fan::in, Distribution::truncated_normal), "scale", "", true},
    NamedInitializer{{"random_uniform", Kind::random_uniform, -0.05, 0.05}, "minval", "maxval"},
    NamedInitializer{{"random_normal", Kind::random_normal, 0, 0.05}, "mean", "stddev"},
    NamedInitializer{{"truncated_normal", Kind::truncated_normal, 0, 0.05}, "mean", "stddev"},
    NamedInitializer{{"orthogonal", Kind::orthogonal, 1}, "gain"},
};

constexpr std::array<std::string_view, 3> fan_names = {"fan_in", "fan_out", "fan_avg"};
constexpr std::array<std::string_view, 3> distribution_names = {"truncated_normal", "untruncated_normal", "uniform"};

const NamedInitializer* find_row(std::string_view name) {
  const auto row = std::ranges::find(named_initializers, name, [](const auto& known) { return known.of.name; });
  return row == named_initializers.end() ? nullptr : row;
}

struct Fans {
  double in = 1, out = 1;
};

Fans fans_of(const Shape& shape) {
  if (shape.empty()) return {};
  if (shape.size() == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  double receptive = 1;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) receptive *= static_cast<double>(shape[i]);
  return {receptive * static_cast<double>(shape[shape.size() - 2]), receptive * static_cast<double>(shape.back())};
}

void fill_scaled(std::span<float> values, const Initializer& initializer, const Fans& fans, std::uint64_t seed) {
  constexpr double spread_of_cut = 0.87962566103423978;  // standard deviation of a unit normal cut at +-2
  double fan = (fans.in + fans.out) / 2;
  if (initializer.fan == Fan::in) fan = fans.in;
  if (initializer.fan == Fan::out) fan = fans.out;
  const double variance = initializer.first / std::max(fan, 1.0);
  switch (initializer.distribution) {
    case Distribution::uniform: {
      const double limit = std::sqrt(3 * variance);
      return fill_uniform(values, seed, -limit, limit);
    }
    case Distribution::truncated_normal:
      return fill_truncated_normal(values, seed, 0, std::sqrt(variance) / spread_of_cut);
    case Distribution::untruncated_normal:
      return fill_normal(values, seed, 0, std::sqrt(variance));
  }
}

/// Makes `vectors` of `length` orthonormal, one after the other; twice, because one pass leaves rounding errors.
void orthonormalize(std::span<double> values, std::size_t vectors, std::size_t length) {
  for (std::size_t i = 0; i < vectors; ++i) {
    const std::span<double> own = values.subspan(i * length, length);
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t k = 0; k < i; ++k) {
        const std::span<const double> other = values.subspan(k * length, length);
        const double along = std::inner_product(own.begin(), own.end(), other.begin(), 0.0);
        for (std::size_t at = 0; at < length; ++at) own[at] -= along * other[at];
      }
    }
    const double norm = std::sqrt(std::inner_product(own.begin(), own.end(), own.begin(), 0.0));
    for (double& value : own) value /= norm;
  }
}

void fill_orthogonal(std::span<float> values, const Shape& shape, std::uint64_t seed, double gain) {
  if (shape.size() < 2) {
    throw Error(
        fmt::format("initializer 'orthogonal': needs a shape of two or more dimensions, got {}", to_string(shape)));
  }
  if (values.empty()) return;
  const auto columns = static_cast<std::size_t>(shape.back());
  const std::size_t rows = values.size() / columns, vectors = std::min(rows, columns), length = std::max(rows, columns);
  fill_normal(values, seed, 0, 1);
  std::vector<double> drawn(values.begin(), values.end());
  orthonormalize(drawn, vectors, length);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t at = rows < columns ? row * length + column : column * length + row;
      values[row * columns + column] = static_cast<float>(gain * drawn[at]);
    }
  }
}

/// In a 16-bit type; `bits_of` rounds one value.
template <class BitsOf>
HostTensor rounded(const HostTensor& wide, Dtype dtype, const BitsOf& bits_of) {
  HostTensor narrow(TensorType{wide.shape(), dtype});
  auto* const bits = reinterpret_cast<std::uint16_t*>(narrow.data());
  std::ranges::transform(wide.values<float>(), bits, bits_of);
  return narrow;
}

[[noreturn]] void unknown(std::string_view text) {
  const auto name_of = [](const NamedInitializer& row) { return row.of.name; };
  throw_unknown_name("unknown initializer", text.substr(0, text.find('(')), names_of(named_initializers, name_of),
                     "; with arguments, such as random_normal(stddev=0.02, seed=7)", "initializer");
}

template <class Enum>
Enum parse_choice(std::span<const std::string_view> names, std::string_view argument, std::string_view text,
                  std::string_view whole) {
  const auto found = std::ranges::find(names, text);
  if (found != names.end()) return static_cast<Enum>(found - names.begin());
  throw Error(
      fmt::format("initializer '{}': {} must be one of {}, got '{}'", whole, argument, fmt::join(names, ", "), text));
}

void set_argument(Initializer& initializer, const NamedInitializer& row, std::string_view name, std::string_view text,
                  std::string_view whole) {
  const auto number = [&] { return parse_argument(text, fmt::format("initializer '{}'", whole)); };
  if (row.chooses && name == "mode") {
    initializer.fan = parse_choice<Fan>(fan_names, name, text, whole);
  } else if (row.chooses && name == "distribution") {
    initializer.distribution = parse_choice<Distribution>(distribution_names, name, text, whole);
  } else if (name == "seed") {
    initializer.seed = static_cast<std::uint64_t>(number());
  } else if (!row.first_name.empty() && name == row.first_name) {
    initializer.first = number();
  } else if (!row.second_name.empty() && name == row.second_name) {
    initializer.second = number();
  } else {
    throw Error(fmt::format("initializer '{}': unknown argument '{}'", whole, name));
  }
}

void check(const Initializer& initializer, std::string_view whole) {
  const bool scales = initializer.kind == Kind::variance_scaling;
  if (scales && !(initializer.first > 0)) {
    throw Error(fmt::format("initializer '{}': scale must be above 0, got {}", whole, initializer.first));
  }
}

}  // namespace

HostTensor Initializer::make(const TensorType& type, std::uint64_t seed_to_use) const {
  HostTensor tensor(TensorType{type.shape, Dtype::f32});
  const std::span<float> values = tensor.values<float>();
  switch (kind) {
    case Kind::constant:
      std::fill(values.begin(), values.end(), static_cast<float>(first));
      break;
    case Kind::random_uniform:
      fill_uniform(values, seed_to_use, first, second);
      break;
    case Kind::random_normal:
      fill_normal(values, seed_to_use, first, second);
      break;
    case Kind::truncated_normal:
      fill_truncated_normal(values, seed_to_use, first, second);
      break;
    case Kind::variance_scaling:
      fill_scaled(values, *this, fans_of(type.shape), seed_to_use);
      break;
    case Kind::orthogonal:
      fill_orthogonal(values, type.shape, seed_to_use, first);
      break;
  }
  if (type.dtype == Dtype::f16) return rounded(tensor, type.dtype, [](float x) { return math::to_float16(x).bits; });
  if (type.dtype == Dtype::bf16) return rounded(tensor, type.dtype, [](float x) { return math::to_bfloat16(x).bits; });
  return tensor;
}

Initializer parse_initializer(std::string_view text) {
  const auto parsed = parse_named_arguments(text);
  if (!parsed) unknown(text);
  const NamedInitializer* const row = find_row(parsed->name);
  if (row == nullptr) unknown(text);
  Initializer initializer = row->of;
  for (const auto& [name, value] : parsed->arguments) set_argument(initializer, *row, name, value, text);
  check(initializer, text);
  return initializer;
}

std::string to_string(const Initializer& initializer) {
  const NamedInitializer& row = *find_row(initializer.name);
  std::string arguments;
  const auto add = [&arguments](std::string_view name, auto value) {
    arguments += fmt::format("{}{}={}", arguments.empty() ? "" : ", ", name, value);
  };
  if (!row.first_name.empty()) add(row.first_name, initializer.first);
  if (!row.second_name.empty()) add(row.second_name, initializer.second);
  if (row.chooses) add("mode", fan_names[static_cast<std::size_t>(initializer.fan)]);
  if (row.chooses) add("distribution", distribution_names[static_cast<std::size_t>(initializer.distribution)]);
  if (initializer.seed) add("seed", *initializer.seed);
  return arguments.empty() ? std::string(row.of.name) : fmt::format("{}({})", row.of.name, arguments);
}

}  // namespace gpubench
