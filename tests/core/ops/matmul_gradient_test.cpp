// Products with the sums, masks and derivatives of a dense layer's backward pass.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "core/ops/fused_matmul.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::matmul_gradient_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

double element(const Array& matrix, bool transposed, std::int64_t row, std::int64_t column) {
  const std::int64_t width = matrix.extent(1);
  return transposed ? matrix[column * width + row] : matrix[row * width + column];
}

/// a b + bias.
void multiply(const MatmulAttributes& options, std::span<const Array> in, Array& out) {
  const std::int64_t columns = out.extent(1), depth = in[0].extent(options.transpose_a ? 0 : 1);
  for (std::int64_t i = 0; i < out.size(); ++i) {
    out[i] = options.bias ? in[2][i % columns] : 0;
    for (std::int64_t k = 0; k < depth; ++k) {
      out[i] +=
          element(in[0], options.transpose_a, i / columns, k) * element(in[1], options.transpose_b, k, i % columns);
    }
  }
}

OpCase bias_gradient_case(std::string name, Shape a, Shape b, Factor summed, MatmulAttributes options) {
  return {.name = std::move(name),
          .op = std::make_shared<const MatmulBiasGradient>(options, summed),
          .inputs = {CaseInput{.type = {std::move(a), Dtype::f32}}, CaseInput{.type = {std::move(b), Dtype::f32}}},
          .reference =
              [options, summed](std::span<const Array> in, std::span<Array> out) {
                multiply(options, in, out[0]);
                const Array& factor = in[summed == Factor::first ? 0 : 1];
                for (std::int64_t i = 0; i < factor.size(); ++i) out[1][i % out[1].size()] += factor[i];
              },
          .differentiable = false,
          .only_fused = true};
}

std::vector<OpCase> bias_gradient_cases() {
  const MatmulAttributes weights{.transpose_a = true};
  return {
      bias_gradient_case("dense", {33, 12}, {33, 10}, Factor::second, weights),
      bias_gradient_case("dense_on_threads", {64, 784}, {64, 128}, Factor::second, weights),
      bias_gradient_case("one_example", {1, 200}, {1, 100}, Factor::second, weights),
      bias_gradient_case("transposed_weights", {33, 10}, {33, 12}, Factor::first, weights),
      bias_gradient_case("transposed_input", {12, 33}, {33, 10}, Factor::second, {}),
      bias_gradient_case("wide", {192, 128}, {192, 256}, Factor::second, weights),
      bias_gradient_case("both_transposed", {33, 10}, {12, 33}, Factor::first,
                         {.transpose_a = true, .transpose_b = true}),
  };
}

GPUBENCH_OP_CASES(MatmulBiasGradient, bias_gradient_cases);

OpCase accumulate_case(std::string name, Shape a, Shape b, Shape sum,
                       MatmulAttributes options = {.transpose_a = true}) {
  return {.name = std::move(name),
          .op = std::make_shared<const MatmulAccumulate>(options),
          .inputs = {CaseInput{.type = {std::move(a), Dtype::f32}}, CaseInput{.type = {std::move(b), Dtype::f32}},
                     CaseInput{.type = {std::move(sum), Dtype::f32}}},
          .reference =
              [options](std::span<const Array> in, std::span<Array> out) {
                multiply(options, in, out[0]);
                for (std::int64_t i = 0; i < out[0].size(); ++i) out[0][i] += in[2][i];
              },
          .differentiable = false,
          .only_fused = true};
}

std::vector<OpCase> accumulate_cases() {
  return {
      accumulate_case("few_examples", {8, 40}, {8, 32}, {40, 32}),
      accumulate_case("few_examples_odd", {5, 33}, {5, 16}, {33, 16}),
      accumulate_case("narrow_of_two_vectors", {3, 40}, {3, 27}, {40, 27}),
      accumulate_case("small", {33, 12}, {33, 10}, {12, 10}),
      accumulate_case("dense_on_threads", {64, 784}, {64, 128}, {784, 128}),
      accumulate_case("tall", {17, 1100}, {17, 240}, {1100, 240}),
      accumulate_case("wide", {192, 128}, {192, 256}, {128, 256}),
      accumulate_case("plain", {100, 70}, {70, 90}, {100, 90}, {}),
      accumulate_case("both_transposed", {70, 100}, {90, 70}, {100, 90}, {.transpose_a = true, .transpose_b = true}),
  };
}

GPUBENCH_OP_CASES(MatmulAccumulate, accumulate_cases);

/// Rows of a that are positive or negative as a whole, with positive columns in b, make rows of a mask that are all
/// ones or zeros: the order of the bits, which is the backend's own, does not show.
void signed_rows(Array& array, std::mt19937_64&) {
  const std::int64_t columns = array.extent(1);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    array[i] = (i / columns % 3 == 0 ? -1 : 1) * (0.1 + std::abs(array[i]));
  }
}

void positive(Array& array, std::mt19937_64&) {
  for (std::int64_t i = 0; i < array.size(); ++i) array[i] = 0.1 + std::abs(array[i]);
}

OpCase mask_case(std::string name, Shape a, Shape b, bool bias) {
  const MatmulAttributes options{.bias = bias, .activation = Activation::relu};
  OpCase result{.name = std::move(name),
                .op = std::make_shared<const MatmulAux>(options),
                .inputs = {CaseInput{.type = {a, Dtype::f32}, .fill = &signed_rows},
                           CaseInput{.type = {b, Dtype::f32}, .fill = &positive}},
                .reference =
                    [options](std::span<const Array> in, std::span<Array> out) {
                      multiply(options, in, out[0]);
                      const std::int64_t columns = out[0].extent(1), bytes = out[1].extent(1);
                      for (std::int64_t i = 0; i < out[1].size(); ++i) {
                        out[1][i] = out[0][i / bytes * columns] > 0 ? 255 : 0;
                      }
                      for (std::int64_t i = 0; i < out[0].size(); ++i) out[0][i] = std::max(out[0][i], 0.0);
                    },
                .differentiable = false,
                .only_fused = true};
  const auto no_bias = [](Array& array, std::mt19937_64&) {
    for (double& value : array.values) value = 0;
  };
  if (bias) result.inputs.push_back(CaseInput{.type = {{b[1]}, Dtype::f32}, .fill = no_bias});
  return result;
}

double gelu_tanh(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

double gelu_tanh_slope(double x) {
  const double t = std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
  return (1 + t + x * (1 - t * t) * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x)) / 2;
}

OpCase argument_case(std::string name, Shape a, Shape b, bool bias) {
  const MatmulAttributes options{.bias = bias, .activation = Activation::gelu_tanh};
  OpCase result{.name = std::move(name),
                .op = std::make_shared<const MatmulAux>(options),
                .inputs = {CaseInput{.type = {a, Dtype::f32}}, CaseInput{.type = {b, Dtype::f32}}},
                .reference =
                    [options](std::span<const Array> in, std::span<Array> out) {
                      multiply(options, in, out[1]);
                      for (std::int64_t i = 0; i < out[0].size(); ++i) out[0][i] = gelu_tanh(out[1][i]);
                    },
                .differentiable = false,
                .only_fused = true};
  if (bias) result.inputs.push_back(CaseInput{.type = {{b[1]}, Dtype::f32}});
  return result;
}

std::vector<OpCase> aux_cases() {
  return {mask_case("relu", {7, 4}, {4, 128}, false),
          mask_case("bias_relu", {7, 4}, {4, 128}, true),
          mask_case("wide_bias_relu", {30, 16}, {16, 384}, true),
          mask_case("bias_relu_of_models", {128, 192}, {192, 256}, true),
          argument_case("bias_gelu_tanh_of_models", {128, 192}, {192, 256}, true),
          argument_case("gelu_tanh", {6, 4}, {4, 8}, false),
          argument_case("bias_gelu_tanh", {30, 16}, {16, 40}, true)};
}

GPUBENCH_OP_CASES(MatmulAux, aux_cases);

OpCase derivative_case(std::string name, Activation activation, Shape a, Shape b, std::int64_t columns) {
  const MatmulAttributes options{.transpose_b = true, .activation = activation};
  const TensorType aux = *aux_type(activation, {{a[0], columns}, Dtype::f32});
  const auto rows_of_bits = [](Array& array, std::mt19937_64&) {
    for (std::int64_t i = 0; i < array.size(); ++i) array[i] = i / array.extent(1) % 3 == 0 ? 0 : 255;
  };
  CaseInput kept{.type = aux, .low = -3, .high = 3};
  if (activation == Activation::relu) kept = {.type = aux, .low = 0, .high = 255, .fill = rows_of_bits};
  return {.name = std::move(name),
          .op = std::make_shared<const MatmulActivationGradient>(options),
          .inputs = {CaseInput{.type = {a, Dtype::f32}}, CaseInput{.type = {b, Dtype::f32}}, kept},
          .reference =
              [options](std::span<const Array> in, std::span<Array> out) {
                MatmulAttributes plain = options;
                plain.bias = false;
                multiply(plain, in, out[0]);
                const std::int64_t width = out[0].extent(1), bytes = in[2].extent(1);
                for (std::int64_t i = 0; i < out[0].size(); ++i) {
                  out[0][i] *= options.activation == Activation::relu ? (in[2][i / width * bytes] > 0 ? 1 : 0)
                                                                      : gelu_tanh_slope(in[2][i]);
                }
              },
          .differentiable = false,
          .only_fused = true};
}

std::vector<OpCase> activation_gradient_cases() {
  return {derivative_case("relu", Activation::relu, {7, 4}, {20, 4}, 20),
          derivative_case("wide_relu", Activation::relu, {30, 16}, {200, 16}, 200),
          derivative_case("relu_of_models", Activation::relu, {128, 192}, {256, 192}, 256),
          derivative_case("gelu_tanh_of_models", Activation::gelu_tanh, {128, 192}, {256, 192}, 256),
          derivative_case("gelu_tanh", Activation::gelu_tanh, {7, 4}, {24, 4}, 24)};
}

GPUBENCH_OP_CASES(MatmulActivationGradient, activation_gradient_cases);

TEST(MatmulAccumulateTest, SaysWhatItCannotAdd) {
  EXPECT_ERROR("matmul_accumulate: the product has neither bias nor activation", MatmulAccumulate({.bias = true}));
  const std::array batched{TensorType{{2, 3, 4}, Dtype::f32}, TensorType{{4, 5}, Dtype::f32},
                           TensorType{{2, 3, 5}, Dtype::f32}};
  EXPECT_ERROR(
      "matmul_accumulate: both factors must be matrices, got float32[2, 3, 4] and "
      "float32[4, 5]",
      MatmulAccumulate({}).infer(batched));
  const std::array other{TensorType{{3, 4}, Dtype::f32}, TensorType{{4, 5}, Dtype::f32},
                         TensorType{{5, 3}, Dtype::f32}};
  EXPECT_ERROR(testing::HasSubstr("matmul_accumulate: the sum"), MatmulAccumulate({}).infer(other));
}

TEST(MatmulBiasGradientTest, SaysWhatItCannotSum) {
  EXPECT_ERROR(
      "matmul_bias_gradient: the product must multiply what is summed down its "
      "columns: a transposed, or b as it is",
      MatmulBiasGradient({}, Factor::first));
  EXPECT_ERROR("matmul_bias_gradient: the product has neither bias nor activation",
               MatmulBiasGradient({.bias = true}, Factor::second));
  const std::vector<TensorType> batched{{{2, 3, 4}, Dtype::f32}, {{2, 4, 5}, Dtype::f32}};
  EXPECT_ERROR(
      "matmul_bias_gradient: both inputs must be matrices, got float32[2, 3, 4] "
      "and float32[2, 4, 5]",
      MatmulBiasGradient({}, Factor::second).infer(batched));
}

TEST(MatmulAuxTest, SaysWhatItCannotKeep) {
  const std::vector<TensorType> inputs{{{3, 4}, Dtype::f32}, {{4, 5}, Dtype::f32}};
  EXPECT_ERROR(
      "matmul_aux: nothing is kept of float32[3, 5] for the derivative of "
      "gelu_tanh; possible are relu, and gelu_tanh in "
      "rows of a multiple of 8 elements",
      MatmulAux({.activation = Activation::gelu_tanh}).infer(inputs));
  EXPECT_ERROR("matmul_activation_gradient: the product has no bias", MatmulActivationGradient({.bias = true}));
  EXPECT_EQ(MatmulAux({.activation = Activation::relu}).infer(inputs)[1], (TensorType{{3, 16}, Dtype::u8}));
}

}  // namespace
}  // namespace gpubench::matmul_gradient_test
