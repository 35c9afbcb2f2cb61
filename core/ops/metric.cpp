#include "core/ops/metric.h"

#include <fmt/format.h>
#include <memory>

#include "core/ops/check.h"

namespace gpubench {

std::string TopKMatches::attributes() const {
  return fmt::format("k={}", k);
}

std::vector<TensorType> TopKMatches::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  const TensorType &predictions = inputs[0], &labels = inputs[1];
  ops::expect_rank(name(), "predictions", predictions, 2);
  ops::expect_type(name(), "predictions", predictions, {predictions.shape, Dtype::f32});
  const std::int64_t batch = predictions.shape[0], classes = predictions.shape[1];
  if (k < 1 || k > classes) ops::refuse(name(), fmt::format("k must be between 1 and {} classes, got {}", classes, k));
  const bool integers = labels.shape == Shape{batch} || labels.shape == Shape{batch, 1};
  if (labels.dtype == Dtype::f32) {
    ops::expect_type(name(), "one-hot labels", labels, predictions);
  } else if (integers) {
    ops::expect_integer(name(), "labels", labels);
  } else {
    ops::refuse(name(), fmt::format("labels for {} must be one-hot float32[{}, {}] or integers [{}], got {}",
                                    to_string(predictions), batch, classes, batch, to_string(labels)));
  }
  return {{{batch}, Dtype::f32}};
}

double TopKMatches::flops(TensorTypes inputs, TensorTypes) const {
  return static_cast<double>(inputs[0].elements());
}

std::string BinaryMatches::attributes() const {
  return fmt::format("threshold={}", threshold);
}

std::vector<TensorType> BinaryMatches::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  ops::expect_type(name(), "predictions", inputs[0], {inputs[0].shape, Dtype::f32});
  ops::expect_type(name(), "labels", inputs[1], inputs[0]);
  return {inputs[0]};
}

SumAndCount::SumAndCount()
    : SimpleOp({.name = "sum_and_count",
                .infer =
                    [](std::string_view op, TensorTypes inputs) {
                      ops::expect_count(op, inputs, 1);
                      ops::expect_type(op, "the values", inputs[0], {inputs[0].shape, Dtype::f32});
                      return std::vector<TensorType>{{{2}, Dtype::f32}};
                    },
                .flops_per_input = 1}) {}

namespace ops {

Value top_k_matches(Graph& graph, Value predictions, Value labels, std::int64_t k) {
  return graph.apply(std::make_shared<const TopKMatches>(k), {predictions, labels});
}
Value binary_matches(Graph& graph, Value predictions, Value labels, double threshold) {
  return graph.apply(std::make_shared<const BinaryMatches>(threshold), {predictions, labels});
}
Value sum_and_count(Graph& graph, Value values) {
  return graph.apply(std::make_shared<const SumAndCount>(), {values});
}

}  // namespace ops
}  // namespace gpubench
