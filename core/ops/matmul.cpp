#include "core/ops/matmul.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/ops/activation.h"
#include "core/ops/bias.h"
#include "core/ops/check.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"

namespace gpubench {
namespace {

struct Matrix {
  std::int64_t rows, columns;
};

Matrix matrix_of(const TensorType& type, bool transposed) {
  const std::int64_t rows = type.shape[type.shape.size() - 2], columns = type.shape.back();
  return transposed ? Matrix{columns, rows} : Matrix{rows, columns};
}

/// The common leading dimensions, or Error.
Shape broadcast_batches(const TensorType& a, const TensorType& b) {
  const std::size_t rank = std::max(a.shape.size(), b.shape.size()) - 2;
  const auto extent = [&](const TensorType& type, std::size_t from_back) {
    const std::size_t own = type.shape.size() - 2;
    return from_back < own ? type.shape[own - 1 - from_back] : 1;
  };
  Shape result(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t left = extent(a, i), right = extent(b, i);
    if (left != right && left != 1 && right != 1) {
      throw Error(
          fmt::format("matmul: the leading dimensions of {} and {} do not broadcast", to_string(a), to_string(b)));
    }
    result[rank - 1 - i] = left == 1 ? right : left;
  }
  return result;
}

}  // namespace

std::string Matmul::attributes() const {
  return fmt::format("transpose_a={} transpose_b={} bias={} activation={}", options.transpose_a, options.transpose_b,
                     options.bias, to_string(options.activation));
}

std::vector<TensorType> Matmul::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, options.bias ? 3 : 2);
  const TensorType &a = inputs[0], &b = inputs[1];
  ops::expect_floating(name(), a);
  ops::expect_same_dtype(name(), a, b);
  if (a.rank() < 2 || b.rank() < 2) {
    throw Error(
        fmt::format("matmul: both inputs need at least 2 dimensions, got {} and {}", to_string(a), to_string(b)));
  }
  const Matrix left = matrix_of(a, options.transpose_a), right = matrix_of(b, options.transpose_b);
  if (left.columns != right.rows) {
    throw Error(fmt::format("matmul: {}{} times {}{}: the inner dimensions {} and {} differ", to_string(a),
                            options.transpose_a ? " transposed" : "", to_string(b),
                            options.transpose_b ? " transposed" : "", left.columns, right.rows));
  }
  TensorType result{broadcast_batches(a, b), a.dtype};
  result.shape.push_back(left.rows);
  result.shape.push_back(right.columns);
  if (options.bias) ops::expect_type(name(), "the bias", inputs[2], {{right.columns}, a.dtype});
  return {result};
}

std::vector<Value> Matmul::gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const {
  const Value a = inputs[0], b = inputs[1];
  MatmulAttributes linear = options;
  linear.activation = Activation::none;
  const Value dc = undo_activation(graph, options.activation, std::make_shared<const Matmul>(linear), inputs,
                                   outputs[0], output_gradients[0]);
  const auto product = [&](Value left, bool transpose_left, Value right, bool transpose_right) {
    return ops::matmul(graph, left, right, {.transpose_a = transpose_left, .transpose_b = transpose_right});
  };
  // c = A B with A = a or its transpose: dA = dc B', dB = A' dc, written so that no transpose is materialized.
  const bool ta = options.transpose_a, tb = options.transpose_b;
  const Value da = ta ? product(b, tb, dc, true) : product(dc, false, b, !tb);
  // A batch of matrices times one matrix: as one tall product, dB is summed over the batch without a dB for each.
  const bool tall = !ta && graph.type(b).rank() == 2 && graph.type(a).rank() > 2;
  const auto flat = [&](Value x) {
    const Shape& shape = graph.type(x).shape;
    return tall ? ops::reshape(graph, x, {element_count(std::span(shape).first(shape.size() - 1)), shape.back()}) : x;
  };
  const Value db = tb ? product(flat(dc), true, flat(a), ta) : product(flat(a), !ta, flat(dc), false);
  std::vector<Value> result = {ops::sum_to(graph, da, graph.type(a).shape),
                               ops::sum_to(graph, db, graph.type(b).shape)};
  if (options.bias) result.push_back(ops::bias_gradient(graph, dc));
  return result;
}

double Matmul::flops(TensorTypes inputs, TensorTypes outputs) const {
  const Matrix left = matrix_of(inputs[0], options.transpose_a);
  return 2.0 * static_cast<double>(outputs[0].elements()) * static_cast<double>(left.columns);
}

namespace ops {

Value matmul(Graph& graph, Value a, Value b, MatmulAttributes options) {
  return graph.apply(std::make_shared<const Matmul>(options), {a, b});
}

Value matmul(Graph& graph, Value a, Value b, Value bias, MatmulAttributes options) {
  options.bias = true;
  return graph.apply(std::make_shared<const Matmul>(options), {a, b, bias});
}

}  // namespace ops
}  // namespace gpubench
