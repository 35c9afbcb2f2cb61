#include "core/ops/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>

#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::batch_norm_test {
namespace {

using support::Array;
using support::CaseInput;
using support::floats;
using support::OpCase;
using support::with_data_in;

constexpr float epsilon = 1e-3F;

struct Statistics {
  std::vector<double> mean, variance;
};

Statistics statistics_of(const Array& x, std::int64_t channels) {
  Statistics result{std::vector<double>(static_cast<std::size_t>(channels)),
                    std::vector<double>(static_cast<std::size_t>(channels))};
  const double count = static_cast<double>(x.size() / channels);
  const auto channel = [channels](std::int64_t i) { return static_cast<std::size_t>(i % channels); };
  for (std::int64_t i = 0; i < x.size(); ++i) result.mean[channel(i)] += x[i] / count;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    result.variance[channel(i)] += (x[i] - result.mean[channel(i)]) * (x[i] - result.mean[channel(i)]) / count;
  }
  return result;
}

double deviation(double variance) {
  return std::sqrt(variance + static_cast<double>(epsilon));
}

OpCase training_case(std::string name, const Shape& shape, double low = -1, double high = 1) {
  const std::int64_t channels = shape.back();
  return {.name = std::move(name),
          .op = std::make_shared<const BatchNorm>(epsilon),
          .inputs = {floats(shape, low, high), floats({channels}), floats({channels})},
          .reference = [channels](std::span<const Array> in, std::span<Array> out) {
            const Statistics s = statistics_of(in[0], channels);
            out[1].values = s.mean;
            out[2].values = s.variance;
            for (std::int64_t i = 0; i < in[0].size(); ++i) {
              const auto c = static_cast<std::size_t>(i % channels);
              out[0][i] = in[1].values[c] * (in[0][i] - s.mean[c]) / deviation(s.variance[c]) + in[2].values[c];
            }
          }};
}

/// x, gamma, beta[, shortcut] -> relu of the sum, and the statistics.
OpCase epilogue_case(std::string name, const Shape& shape, NormEpilogue epilogue, double low = -1, double high = 1) {
  OpCase result = training_case(std::move(name), shape, low, high);
  result.op = std::make_shared<const BatchNorm>(epsilon, epilogue);
  const bool has_shortcut = epilogue == NormEpilogue::add_relu;
  if (has_shortcut) result.inputs.push_back(floats(shape));
  result.reference = [plain = result.reference, has_shortcut](std::span<const Array> in, std::span<Array> out) {
    plain(in.first(3), out);
    for (std::int64_t i = 0; i < in[0].size(); ++i)
      out[0][i] = std::max(0.0, out[0][i] + (has_shortcut ? in[3][i] : 0.0));
  };
  result.differentiable = false;
  return result;
}

OpCase inference_case(std::string name, const Shape& shape) {
  const std::int64_t channels = shape.back();
  const CaseInput mean = floats({channels}), variance = floats({channels}, 0.5, 2);
  return {.name = std::move(name),
          .op = std::make_shared<const BatchNormInference>(epsilon),
          .inputs = {floats(shape), floats({channels}), floats({channels}), mean, variance},
          .reference = [channels](std::span<const Array> in, std::span<Array> out) {
            for (std::int64_t i = 0; i < in[0].size(); ++i) {
              const std::int64_t c = i % channels;
              out[0][i] = in[1][c] * (in[0][i] - in[3][c]) / deviation(in[4][c]) + in[2][c];
            }
          }};
}

/// x, gamma, mean, variance, dy; the given statistics stand for those of x, whose derivative is what differs.
OpCase gradient_case(std::string name, const Shape& shape, bool training, double low = -1, double high = 1) {
  const std::int64_t channels = shape.back();
  const OpPtr op = training ? OpPtr(std::make_shared<const BatchNormGradient>(epsilon))
                            : OpPtr(std::make_shared<const BatchNormInferenceGradient>(epsilon));
  return {.name = std::move(name),
          .op = op,
          .inputs = {floats(shape, low, high), floats({channels}), floats({channels}, low, high),
                     floats({channels}, 0.5, 2), floats(shape)},
          .reference =
              [channels, training](std::span<const Array> in, std::span<Array> out) {
                const double count = static_cast<double>(in[0].size() / channels);
                const auto normalized = [&](std::int64_t i) {
                  return (in[0][i] - in[2][i % channels]) / deviation(in[3][i % channels]);
                };
                for (std::int64_t i = 0; i < in[0].size(); ++i) {
                  out[1][i % channels] += in[4][i] * normalized(i);
                  out[2][i % channels] += in[4][i];
                }
                for (std::int64_t i = 0; i < in[0].size(); ++i) {
                  const std::int64_t c = i % channels;
                  const double means = training ? (out[2][c] + normalized(i) * out[1][c]) / count : 0;
                  out[0][i] = in[1][c] / deviation(in[3][c]) * (in[4][i] - means);
                }
              },
          .differentiable = false};
}

/// x, gamma, mean, variance, dy, beta or y -> the gradients of a normalization that relu followed.
OpCase epilogue_gradient_case(std::string name, const Shape& shape, NormEpilogue epilogue) {
  OpCase result = gradient_case(std::move(name), shape, true);
  result.op = std::make_shared<const BatchNormGradient>(epsilon, epilogue);
  const bool has_shortcut = epilogue == NormEpilogue::add_relu;
  result.inputs.push_back(has_shortcut ? floats(shape) : floats({shape.back()}));
  result.reference = [plain = result.reference, has_shortcut](std::span<const Array> in, std::span<Array> out) {
    std::vector<Array> inputs(in.begin(), in.begin() + 5);
    const std::int64_t channels = in[1].size();
    for (std::int64_t i = 0; i < in[0].size(); ++i) {
      const std::int64_t c = i % channels;
      const double y = has_shortcut ? in[5][i] : in[1][c] * (in[0][i] - in[2][c]) / deviation(in[3][c]) + in[5][c];
      if (y <= 0) inputs[4][i] = 0;
      if (has_shortcut) out[3][i] = inputs[4][i];
    }
    plain(inputs, out.first(3));
  };
  return result;
}

std::vector<OpCase> epilogue_cases() {
  constexpr NormEpilogue relu = NormEpilogue::relu, add_relu = NormEpilogue::add_relu;
  return {
      epilogue_case("relu", {6, 5}, relu),
      epilogue_case("relu_in_packs", {70, 264}, relu),
      epilogue_case("add_relu", {2, 3, 4, 7}, add_relu),
      epilogue_case("add_relu_in_packs_on_threads", {600, 100}, add_relu),
      epilogue_case("add_relu_far_from_zero", {40, 3}, add_relu, 99, 101),
      with_data_in(Dtype::bf16, epilogue_case("relu_in_packs", {60, 24}, relu)),
      with_data_in(Dtype::bf16, epilogue_case("add_relu_in_packs", {60, 24}, add_relu)),
      with_data_in(Dtype::f16, epilogue_case("add_relu", {60, 7}, add_relu)),
      epilogue_gradient_case("relu_gradient", {6, 5}, relu),
      epilogue_gradient_case("relu_gradient_in_packs_on_threads", {600, 100}, relu),
      epilogue_gradient_case("add_relu_gradient", {2, 3, 4, 7}, add_relu),
      epilogue_gradient_case("add_relu_gradient_in_packs", {70, 264}, add_relu),
      with_data_in(Dtype::bf16, epilogue_gradient_case("relu_gradient_in_packs", {60, 24}, relu)),
      with_data_in(Dtype::f16, epilogue_gradient_case("relu_gradient", {60, 7}, relu)),
      with_data_in(Dtype::bf16, epilogue_gradient_case("add_relu_gradient_in_packs", {60, 24}, add_relu)),
  };
}

std::vector<OpCase> batch_norm_cases() {
  return {
      training_case("training", {6, 5}),
      training_case("training_images", {2, 3, 4, 7}),
      training_case("training_on_threads", {600, 100}),
      training_case("training_in_packs_of_several_tiles", {70, 264}),
      training_case("training_far_from_zero", {40, 3}, 99, 101),
      inference_case("inference", {6, 5}),
      inference_case("inference_on_threads", {600, 100}),
      inference_case("inference_in_packs", {60, 8}),
      gradient_case("training_gradient", {6, 5}, true),
      gradient_case("training_gradient_in_packs_of_several_tiles", {70, 264}, true),
      gradient_case("training_gradient_on_threads", {600, 100}, true),
      gradient_case("training_gradient_far_from_zero", {40, 3}, true, 99, 101),
      gradient_case("inference_gradient", {6, 5}, false),
  };
}

std::vector<OpCase> mixed_cases() {
  return {
      with_data_in(Dtype::bf16, training_case("training", {600, 7})),
      with_data_in(Dtype::bf16, training_case("training_in_packs", {60, 24})),
      with_data_in(Dtype::f16, inference_case("inference_in_packs", {60, 24})),
      with_data_in(Dtype::bf16, gradient_case("training_gradient_in_packs", {60, 24}, true)),
      with_data_in(Dtype::f16, training_case("training_images", {2, 3, 4, 7})),
      with_data_in(Dtype::bf16, inference_case("inference", {6, 5})),
      with_data_in(Dtype::f16, gradient_case("training_gradient", {600, 7}, true)),
      with_data_in(Dtype::bf16, gradient_case("inference_gradient", {6, 5}, false)),
  };
}

GPUBENCH_OP_CASES(BatchNorm, batch_norm_cases);
GPUBENCH_OP_CASES(BatchNormOf16Bits, mixed_cases);
GPUBENCH_OP_CASES(BatchNormWithRelu, epilogue_cases);

TEST(BatchNormTest, AnEpilogueNeedsItsInput) {
  const TensorType x{{4, 3}, Dtype::f32}, channels{{3}, Dtype::f32}, other{{4, 2}, Dtype::f32};
  const std::vector<TensorType> three{x, channels, channels}, wrong{x, channels, channels, other};
  EXPECT_ERROR("batch_norm: takes 4 inputs, got 3", BatchNorm(epsilon, NormEpilogue::add_relu).infer(three));
  EXPECT_ERROR("batch_norm: the shortcut must be float32[4, 3], got float32[4, 2]",
               BatchNorm(epsilon, NormEpilogue::add_relu).infer(wrong));
}

TEST(BatchNormTest, RefusesParametersOfAnotherWidth) {
  Graph graph;
  const auto value = [&](Shape shape) { return graph.input({std::move(shape), Dtype::f32}, "x"); };
  EXPECT_ERROR("batch_norm: gamma must be float32[3], got float32[2]",
               ops::batch_norm(graph, value({4, 3}), value({2}), value({3}), epsilon));
  EXPECT_ERROR("batch_norm: the input must be [batch, ..., channels], got float32[3]",
               ops::batch_norm(graph, value({3}), value({3}), value({3}), epsilon));
}

}  // namespace
}  // namespace gpubench::batch_norm_test
