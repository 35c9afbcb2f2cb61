#include "core/nn/initializer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/math/half.h"
#include "core/math/philox.h"

namespace gpubench {
namespace {

struct NamedInitializer {
  std::string_view name;
  Initializer::Kind kind;
  std::string_view first_name, second_name;  // empty: takes no such argument
  double first, second;
};

constexpr std::array named_initializers = {
    NamedInitializer{"zeros", Initializer::Kind::zeros, "", "", 0, 0},
    NamedInitializer{"ones", Initializer::Kind::ones, "", "", 0, 0},
    NamedInitializer{"constant", Initializer::Kind::constant, "value", "", 0, 0},
    NamedInitializer{"glorot_uniform", Initializer::Kind::glorot_uniform, "", "", 0, 0},
    NamedInitializer{"glorot_normal", Initializer::Kind::glorot_normal, "", "", 0, 0},
    NamedInitializer{"he_uniform", Initializer::Kind::he_uniform, "", "", 0, 0},
    NamedInitializer{"he_normal", Initializer::Kind::he_normal, "", "", 0, 0},
    NamedInitializer{"random_uniform", Initializer::Kind::random_uniform, "minval", "maxval", -0.05, 0.05},
    NamedInitializer{"random_normal", Initializer::Kind::random_normal, "mean", "stddev", 0.0, 0.05},
};

const NamedInitializer& row_of(Initializer::Kind kind) {
  return *std::find_if(named_initializers.begin(), named_initializers.end(),
                       [kind](const NamedInitializer& row) { return row.kind == kind; });
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

/// Uniform in [0, 1).
double uniform(std::uint64_t seed, std::size_t element) {
  return static_cast<double>(math::to_uniform(math::philox(seed, 0, element / 4).word[element % 4]));
}

double normal(std::uint64_t seed, std::uint64_t attempt, std::size_t element) {
  const math::PhiloxWords words = math::philox(seed, attempt, element);
  return static_cast<double>(math::to_normal(words.word[0], words.word[1]));
}

void fill_uniform(std::span<float> values, std::uint64_t seed, double low, double high) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(low + (high - low) * uniform(seed, i));
  }
}

void fill_normal(std::span<float> values, std::uint64_t seed, double mean, double stddev) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(mean + stddev * normal(seed, 0, i));
  }
}

/// Normal values within two standard deviations, scaled so that the spread after cutting is `stddev`.
void fill_truncated_normal(std::span<float> values, std::uint64_t seed, double stddev) {
  constexpr double spread_of_cut = 0.87962566103423978;  // standard deviation of a unit normal cut at +-2
  for (std::size_t i = 0; i < values.size(); ++i) {
    double drawn = 0;
    std::uint64_t attempt = 0;
    do {
      drawn = normal(seed, attempt++, i);
    } while (std::abs(drawn) > 2);
    values[i] = static_cast<float>(drawn * stddev / spread_of_cut);
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
  std::string names;
  for (const NamedInitializer& row : named_initializers) {
    names += (names.empty() ? "" : ", ") + std::string(row.name);
    if (!row.first_name.empty()) names += fmt::format("({}=...)", row.first_name);
  }
  throw Error(fmt::format("unknown initializer '{}' (known: {}; each also takes seed=...)", text, names));
}

double parse_number(std::string_view text, std::string_view whole) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw Error(fmt::format("initializer '{}': '{}' is no number", whole, text));
  }
  return number;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

void set_argument(Initializer& initializer, const NamedInitializer& row, std::string_view argument,
                  std::string_view whole) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos) unknown(whole);
  const std::string_view name = trim(argument.substr(0, equals));
  const double number = parse_number(trim(argument.substr(equals + 1)), whole);
  if (name == "seed") {
    initializer.seed = static_cast<std::uint64_t>(number);
  } else if (!row.first_name.empty() && name == row.first_name) {
    initializer.first = number;
  } else if (!row.second_name.empty() && name == row.second_name) {
    initializer.second = number;
  } else {
    throw Error(fmt::format("initializer '{}': unknown argument '{}'", whole, name));
  }
}

}  // namespace

HostTensor Initializer::make(const TensorType& type, std::uint64_t seed_to_use) const {
  HostTensor tensor(TensorType{type.shape, Dtype::f32});
  const std::span<float> values = tensor.values<float>();
  const Fans fans = fans_of(type.shape);
  switch (kind) {
    case Kind::zeros:
      std::fill(values.begin(), values.end(), 0.0F);
      break;
    case Kind::ones:
      std::fill(values.begin(), values.end(), 1.0F);
      break;
    case Kind::constant:
      std::fill(values.begin(), values.end(), static_cast<float>(first));
      break;
    case Kind::glorot_uniform: {
      const double limit = std::sqrt(6 / (fans.in + fans.out));
      fill_uniform(values, seed_to_use, -limit, limit);
      break;
    }
    case Kind::glorot_normal:
      fill_truncated_normal(values, seed_to_use, std::sqrt(2 / (fans.in + fans.out)));
      break;
    case Kind::he_uniform: {
      const double limit = std::sqrt(6 / fans.in);
      fill_uniform(values, seed_to_use, -limit, limit);
      break;
    }
    case Kind::he_normal:
      fill_truncated_normal(values, seed_to_use, std::sqrt(2 / fans.in));
      break;
    case Kind::random_uniform:
      fill_uniform(values, seed_to_use, first, second);
      break;
    case Kind::random_normal:
      fill_normal(values, seed_to_use, first, second);
      break;
  }
  if (type.dtype == Dtype::f16) return rounded(tensor, type.dtype, [](float x) { return math::to_float16(x).bits; });
  if (type.dtype == Dtype::bf16) return rounded(tensor, type.dtype, [](float x) { return math::to_bfloat16(x).bits; });
  return tensor;
}

Initializer parse_initializer(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::string_view name = trim(text.substr(0, open));
  const auto row = std::find_if(named_initializers.begin(), named_initializers.end(),
                                [name](const NamedInitializer& known) { return known.name == name; });
  if (row == named_initializers.end()) unknown(text);
  Initializer initializer{row->kind, row->first, row->second, {}};
  if (open == std::string_view::npos) return initializer;

  if (text.back() != ')') unknown(text);
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  while (!trim(rest).empty()) {
    const std::size_t comma = rest.find(',');
    set_argument(initializer, *row, rest.substr(0, comma), text);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return initializer;
}

std::string to_string(const Initializer& initializer) {
  const NamedInitializer& row = row_of(initializer.kind);
  std::string arguments;
  const auto add = [&arguments](std::string_view name, auto value) {
    arguments += fmt::format("{}{}={}", arguments.empty() ? "" : ", ", name, value);
  };
  if (!row.first_name.empty()) add(row.first_name, initializer.first);
  if (!row.second_name.empty()) add(row.second_name, initializer.second);
  if (initializer.seed) add("seed", *initializer.seed);
  return arguments.empty() ? std::string(row.name) : fmt::format("{}({})", row.name, arguments);
}

}  // namespace gpubench
