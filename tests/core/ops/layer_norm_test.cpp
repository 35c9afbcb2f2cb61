#include "core/ops/layer_norm.h"

#include <cmath>
#include <gtest/gtest.h>
#include <memory>

#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::layer_norm_test {
namespace {

using support::Array;
using support::floats;
using support::OpCase;
using support::with_data_in;

constexpr float epsilon = 1e-3F;

/// The numbers of the rows of x [rows...].
Shape rows_of(const Shape& x) {
  return {x.begin(), x.end() - 1};
}

struct RowStatistics {
  double mean = 0, inverse = 0;
};

RowStatistics statistics_of(const Array& x, std::int64_t row, std::int64_t channels, bool centered) {
  RowStatistics result;
  const double count = static_cast<double>(channels);
  if (centered) {
    for (std::int64_t i = 0; i < channels; ++i) result.mean += x[row * channels + i] / count;
  }
  double squares = 0;
  for (std::int64_t i = 0; i < channels; ++i) squares += std::pow(x[row * channels + i] - result.mean, 2) / count;
  result.inverse = 1 / std::sqrt(squares + static_cast<double>(epsilon));
  return result;
}

OpCase layer_norm_case(std::string name, const Shape& shape, double low = -1, double high = 1) {
  const std::int64_t channels = shape.back();
  return {.name = std::move(name),
          .op = std::make_shared<const LayerNorm>(epsilon),
          .inputs = {floats(shape, low, high), floats({channels}), floats({channels})},
          .reference = [channels](std::span<const Array> in, std::span<Array> out) {
            for (std::int64_t row = 0; row < in[0].size() / channels; ++row) {
              const RowStatistics s = statistics_of(in[0], row, channels, true);
              for (std::int64_t c = 0; c < channels; ++c) {
                const std::int64_t i = row * channels + c;
                out[0][i] = in[1][c] * (in[0][i] - s.mean) * s.inverse + in[2][c];
              }
              out[1][row] = s.mean;
              out[2][row] = s.inverse;
            }
          }};
}

OpCase rms_norm_case(std::string name, const Shape& shape) {
  const std::int64_t channels = shape.back();
  return {.name = std::move(name),
          .op = std::make_shared<const RmsNorm>(epsilon),
          .inputs = {floats(shape), floats({channels})},
          .reference = [channels](std::span<const Array> in, std::span<Array> out) {
            for (std::int64_t row = 0; row < in[0].size() / channels; ++row) {
              const double inverse = statistics_of(in[0], row, channels, false).inverse;
              for (std::int64_t c = 0; c < channels; ++c) {
                out[0][row * channels + c] = in[1][c] * in[0][row * channels + c] * inverse;
              }
              out[1][row] = inverse;
            }
          }};
}

/// dx, dgamma and dbeta (none without a mean) for statistics that stand for those of x.
void row_gradient(const Array& x, const Array& gamma, const Array* mean, const Array& inverse, const Array& dy,
                  std::span<Array> out) {
  const std::int64_t channels = gamma.size();
  const double count = static_cast<double>(channels);
  for (std::int64_t row = 0; row < x.size() / channels; ++row) {
    const auto normalized = [&](std::int64_t c) {
      return (x[row * channels + c] - (mean != nullptr ? (*mean)[row] : 0)) * inverse[row];
    };
    double slopes = 0, moments = 0;
    for (std::int64_t c = 0; c < channels; ++c) {
      const double given = dy[row * channels + c];
      if (mean != nullptr) {
        slopes += given * gamma[c] / count;
        out[2][c] += given;
      }
      moments += given * gamma[c] * normalized(c) / count;
      out[1][c] += given * normalized(c);
    }
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t i = row * channels + c;
      out[0][i] = inverse[row] * (dy[i] * gamma[c] - slopes - normalized(c) * moments);
    }
  }
}

OpCase layer_norm_gradient_case(std::string name, const Shape& shape) {
  return {.name = std::move(name),
          .op = std::make_shared<const LayerNormGradient>(),
          .inputs = {floats(shape), floats({shape.back()}), floats(rows_of(shape)), floats(rows_of(shape), 0.5, 2),
                     floats(shape)},
          .reference = [](std::span<const Array> in,
                          std::span<Array> out) { row_gradient(in[0], in[1], &in[2], in[3], in[4], out); },
          .differentiable = false,
          .halves = false};
}

OpCase rms_norm_gradient_case(std::string name, const Shape& shape) {
  return {.name = std::move(name),
          .op = std::make_shared<const RmsNormGradient>(),
          .inputs = {floats(shape), floats({shape.back()}), floats(rows_of(shape), 0.5, 2), floats(shape)},
          .reference = [](std::span<const Array> in,
                          std::span<Array> out) { row_gradient(in[0], in[1], nullptr, in[2], in[3], out); },
          .differentiable = false,
          .halves = false};
}

std::vector<OpCase> layer_norm_cases() {
  return {
      layer_norm_case("layer_norm", {6, 5}),
      layer_norm_case("layer_norm_of_sequences", {2, 3, 70}),
      layer_norm_case("layer_norm_of_one_row", {8}),
      layer_norm_case("layer_norm_on_threads", {600, 200}),
      layer_norm_case("layer_norm_of_warps", {3, 1000}),
      layer_norm_case("layer_norm_of_long_rows", {3, 2100}),
      layer_norm_case("layer_norm_of_long_odd_rows", {3, 2101}),
      layer_norm_case("layer_norm_of_blocks_in_packs", {2, 8400}),
      layer_norm_case("layer_norm_far_from_zero", {40, 33}, 9, 11),
      layer_norm_gradient_case("layer_norm_gradient", {6, 5}),
      layer_norm_gradient_case("layer_norm_gradient_on_threads", {600, 200}),
      layer_norm_gradient_case("layer_norm_gradient_of_long_rows", {3, 2100}),
      layer_norm_gradient_case("layer_norm_gradient_of_long_odd_rows", {3, 2101}),
      layer_norm_gradient_case("layer_norm_gradient_of_blocks_in_packs", {2, 8400}),
      layer_norm_gradient_case("layer_norm_gradient_in_packs_of_several_tiles", {70, 264}),
      rms_norm_case("rms_norm", {6, 5}),
      rms_norm_case("rms_norm_of_sequences", {2, 3, 70}),
      rms_norm_case("rms_norm_on_threads", {600, 200}),
      rms_norm_gradient_case("rms_norm_gradient", {6, 5}),
      rms_norm_gradient_case("rms_norm_gradient_on_threads", {600, 200}),
  };
}

/// Rows of each length for which a GPU has a kernel of its own.
std::vector<OpCase> mixed_cases() {
  std::vector<OpCase> cases{
      with_data_in(Dtype::bf16, layer_norm_case("layer_norm", {6, 70})),
      with_data_in(Dtype::bf16, layer_norm_case("layer_norm_in_packs", {6, 72})),
      with_data_in(Dtype::bf16, layer_norm_case("layer_norm_of_warps", {3, 1544})),
      with_data_in(Dtype::f16, layer_norm_gradient_case("layer_norm_gradient", {60, 7})),
      with_data_in(Dtype::f16, rms_norm_case("rms_norm", {6, 70})),
      with_data_in(Dtype::bf16, rms_norm_gradient_case("rms_norm_gradient", {60, 7})),
  };
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    const auto named = [&](const char* name) { return std::string(name).append("_").append(to_string(dtype)); };
    cases.push_back(with_data_in(dtype, layer_norm_case(named("layer_norm_of_blocks"), {2, 2104})));
    const auto add = [&](const char* name, const Shape& shape) {
      cases.push_back(with_data_in(dtype, layer_norm_gradient_case(named(name), shape)));
    };
    add("layer_norm_gradient_in_packs", {60, 24});
    add("layer_norm_gradient_of_warps", {5, 1000});
    add("layer_norm_gradient_of_blocks", {3, 2104});
    add("layer_norm_gradient_of_long_rows", {2, 8400});
    add("layer_norm_gradient_of_long_odd_rows", {3, 2101});
  }
  return cases;
}

GPUBENCH_OP_CASES(LayerNorm, layer_norm_cases);
GPUBENCH_OP_CASES(LayerNormOf16Bits, mixed_cases);

TEST(LayerNormTest, RefusesTypesThatDoNotFit) {
  Graph graph;
  const auto value = [&](Shape shape, Dtype dtype = Dtype::f32) { return graph.input({std::move(shape), dtype}, "x"); };
  EXPECT_ERROR("layer_norm: gamma must be float32[3], got float32[2]",
               ops::layer_norm(graph, value({4, 3}), value({2}), value({3}), epsilon));
  EXPECT_ERROR("layer_norm: beta must be float32[3], got bfloat16[3]",
               ops::layer_norm(graph, value({4, 3}), value({3}), value({3}, Dtype::bf16), epsilon));
  EXPECT_ERROR("rms_norm: the input must be [..., channels], got float32[]",
               ops::rms_norm(graph, value({}), value({1}), epsilon));
  EXPECT_ERROR("rms_norm: the rows of float32[4, 0] have no value; at least one is needed",
               ops::rms_norm(graph, value({4, 0}), value({0}), epsilon));
}

}  // namespace
}  // namespace gpubench::layer_norm_test
