#include "core/ops/matmul.h"

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>

#include "tests/support/activated.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::matmul_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

/// One matrix of a batch: where its elements lie.
struct Matrix {
  const double* first;
  std::int64_t row_step, column_step;
  double at(std::int64_t row, std::int64_t column) const { return first[row * row_step + column * column_step]; }
};

/// The matrix of `array` that broadcasting pairs with the result's matrix number `index`.
Matrix matrix_of(const Array& array, bool transposed, std::int64_t index, const Shape& result) {
  const Shape batches(result.begin(), result.end() - 2);
  const Shape own(array.type.shape.begin(), array.type.shape.end() - 2);
  const std::int64_t width = array.type.shape.back(), height = array.type.shape[own.size()];
  const double* const first = array.values.data() + support::broadcast_offset(index, batches, own) * width * height;
  return transposed ? Matrix{first, 1, width} : Matrix{first, width, 1};
}

void multiply(const MatmulAttributes& options, std::span<const Array> in, Array& out) {
  const std::int64_t depth = in[0].extent(in[0].type.rank() - (options.transpose_a ? 2 : 1));
  const std::int64_t rows = out.extent(out.type.rank() - 2), columns = out.type.shape.back();
  for (std::int64_t index = 0; index < out.size() / (rows * columns); ++index) {
    const Matrix a = matrix_of(in[0], options.transpose_a, index, out.type.shape);
    const Matrix b = matrix_of(in[1], options.transpose_b, index, out.type.shape);
    double* const result = out.values.data() + index * rows * columns;
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      double sum = options.bias ? in[2][i % columns] : 0;
      for (std::int64_t k = 0; k < depth; ++k) sum += a.at(i / columns, k) * b.at(k, i % columns);
      result[i] = support::activated(options.activation, sum);
    }
  }
}

OpCase matmul_case(std::string name, Shape a, Shape b, MatmulAttributes options = {}, Dtype dtype = Dtype::f32) {
  OpCase result{
      .name = std::move(name),
      .op = std::make_shared<const Matmul>(options),
      .inputs = {CaseInput{.type = {a, dtype}}, CaseInput{.type = {b, dtype}}},
      .reference = [options](std::span<const Array> in, std::span<Array> out) { multiply(options, in, out[0]); }};
  const std::int64_t columns = options.transpose_b ? b[b.size() - 2] : b.back();
  if (options.bias) result.inputs.push_back(CaseInput{.type = {{columns}, dtype}});
  return result;
}

std::vector<OpCase> matmul_cases() {
  const auto with = [](Activation activation) { return MatmulAttributes{.bias = true, .activation = activation}; };
  return {
      matmul_case("small", {3, 4}, {4, 5}),
      matmul_case("one_element", {1, 1}, {1, 1}),
      matmul_case("transposed_a", {4, 3}, {4, 5}, {.transpose_a = true}),
      matmul_case("transposed_b", {3, 4}, {5, 4}, {.transpose_b = true}),
      matmul_case("both_transposed", {4, 3}, {5, 4}, {.transpose_a = true, .transpose_b = true}),
      matmul_case("large", {70, 65}, {65, 80}),
      matmul_case("large_transposed_a", {65, 70}, {65, 80}, {.transpose_a = true}),
      matmul_case("large_transposed_b", {70, 65}, {80, 65}, {.transpose_b = true}),
      matmul_case("narrow_transposed_a", {64, 600}, {64, 10}, {.transpose_a = true}),
      matmul_case("narrow_of_few_rows", {5, 67}, {5, 10}, {.transpose_a = true}),
      matmul_case("narrow_of_one_result_row", {3, 1}, {3, 10}, {.transpose_a = true}),
      matmul_case("narrow_of_two_vectors", {32, 35}, {32, 27}, {.transpose_a = true}),
      matmul_case("narrow_of_whole_vectors", {24, 40}, {24, 32}, {.transpose_a = true}),
      matmul_case("narrow_on_threads", {64, 5408}, {64, 10}, {.transpose_a = true}),
      matmul_case("short_sum", {64, 10}, {600, 10}, {.transpose_b = true}),
      matmul_case("outer_product", {1, 200}, {1, 100}, {.transpose_a = true}),
      matmul_case("outer_product_of_vectors", {1, 33}, {1, 80}, {.transpose_a = true}),
      matmul_case("few_outer_products", {5, 33}, {5, 80}, {.transpose_a = true}),
      matmul_case("outer_products_on_threads", {16, 784}, {16, 128}, {.transpose_a = true}),
      matmul_case("wide", {136, 5}, {5, 2113}, with(Activation::relu)),
      matmul_case("tall", {5, 2113}, {5, 136}, {.transpose_a = true}),
      matmul_case("bias", {6, 4}, {4, 5}, {.bias = true}),
      matmul_case("bias_relu", {6, 4}, {4, 5}, with(Activation::relu)),
      matmul_case("bias_sigmoid", {6, 4}, {4, 5}, with(Activation::sigmoid)),
      matmul_case("bias_tanh", {6, 4}, {4, 5}, with(Activation::tanh)),
      matmul_case("bias_gelu", {6, 4}, {4, 5}, with(Activation::gelu)),
      matmul_case("bias_gelu_tanh", {6, 4}, {4, 5}, with(Activation::gelu_tanh)),
      matmul_case("gelu_tanh", {6, 4}, {4, 5}, {.activation = Activation::gelu_tanh}),
      matmul_case("large_bias_relu", {70, 65}, {65, 80}, with(Activation::relu)),
      matmul_case("tall_by_one", {2, 3, 4}, {4, 5}),
      matmul_case("tall_by_one_transposed", {2, 3, 4}, {5, 4}, {.transpose_b = true}),
      matmul_case("batched", {2, 3, 4}, {2, 4, 5}),
      matmul_case("batched_by_one", {3, 4}, {2, 4, 5}),
      matmul_case("batched_transposed", {2, 4, 3}, {2, 5, 4}, {.transpose_a = true, .transpose_b = true}),
      matmul_case("broadcast_batches", {2, 1, 3, 4}, {3, 4, 5}),
      matmul_case("batched_bias", {2, 3, 4}, {2, 4, 5}, with(Activation::none)),
  };
}

/// Layers of the width of models: cuBLASLt has its epilogues in the kernels of such sizes.
std::vector<OpCase> wide_matmul_cases() {
  std::vector<OpCase> cases{matmul_case("plain", {128, 192}, {192, 256})};
  for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh,
                                      Activation::sigmoid, Activation::tanh}) {
    cases.push_back(matmul_case(fmt::format("bias_{}", to_string(activation)), {128, 192}, {192, 256},
                                {.bias = true, .activation = activation}));
  }
  return cases;
}

GPUBENCH_OP_CASES(WideMatmul, wide_matmul_cases);

GPUBENCH_OP_CASES(Matmul, matmul_cases);

/// A 16-bit type holds the forward product to what the type resolves; its gradient kernels are the same op.
std::vector<OpCase> matmul_in_16_bits_cases() {
  return {matmul_case("bfloat16", {33, 40}, {40, 24}, {}, Dtype::bf16),
          matmul_case("bfloat16_transposed_b", {33, 40}, {24, 40}, {.transpose_b = true}, Dtype::bf16),
          matmul_case("float16", {33, 40}, {40, 24}, {}, Dtype::f16),
          matmul_case("float16_transposed_a", {40, 33}, {40, 24}, {.transpose_a = true}, Dtype::f16)};
}

GPUBENCH_OP_CASES(MatmulIn16Bits, matmul_in_16_bits_cases);

TEST(MatmulTest, RefusesWhatDoesNotMultiply) {
  Graph graph;
  const auto value = [&](Shape shape, Dtype dtype = Dtype::f32) { return graph.input({std::move(shape), dtype}, "x"); };
  EXPECT_ERROR("matmul: float32[2, 3] times float32[4, 5]: the inner dimensions 3 and 4 differ",
               ops::matmul(graph, value({2, 3}), value({4, 5})));
  EXPECT_ERROR("matmul: float32[2, 3] transposed times float32[4, 5]: the inner dimensions 2 and 4 differ",
               ops::matmul(graph, value({2, 3}), value({4, 5}), {.transpose_a = true}));
  EXPECT_ERROR("matmul: both inputs need at least 2 dimensions, got float32[3] and float32[3, 5]",
               ops::matmul(graph, value({3}), value({3, 5})));
  EXPECT_ERROR("matmul: the leading dimensions of float32[2, 2, 3] and float32[3, 3, 5] do not broadcast",
               ops::matmul(graph, value({2, 2, 3}), value({3, 3, 5})));
  EXPECT_ERROR("matmul: int64[2, 3] is not floating-point; cast it to float32",
               ops::matmul(graph, value({2, 3}, Dtype::i64), value({3, 5}, Dtype::i64)));
  EXPECT_ERROR("matmul: the bias must be float32[5], got float32[4]",
               ops::matmul(graph, value({2, 3}), value({3, 5}), value({4})));
}

TEST(MatmulTest, CountsMultiplicationsAndAdditions) {
  const Matmul op({.transpose_a = true});
  const std::vector<TensorType> inputs = {{{7, 3}, Dtype::f32}, {{7, 5}, Dtype::f32}};
  EXPECT_EQ(op.flops(inputs, op.infer(inputs)), 2.0 * 3 * 7 * 5);
}

}  // namespace
}  // namespace gpubench::matmul_test
