#include "core/ops/loss.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/graph/leaf_ops.h"
#include "core/ops/check.h"
#include "core/ops/softmax.h"

namespace gpubench {
namespace {

Shape examples(const TensorType& predictions) {
  return {predictions.shape.begin(), predictions.shape.end() - 1};
}

void check_predictions(std::string_view op, const TensorType& predictions) {
  ops::expect_floating(op, predictions);
  if (predictions.rank() == 0) {
    throw Error(fmt::format("{}: the predictions must be [..., classes], got a scalar", op));
  }
  if (predictions.shape.back() == 0) {
    throw Error(
        fmt::format("{}: the predictions {} are of no class; at least one is needed", op, to_string(predictions)));
  }
}

void check_categorical(std::string_view op, const TensorType& predictions, const TensorType& labels) {
  check_predictions(op, predictions);
  if (labels.shape != predictions.shape) {
    throw Error(
        fmt::format("{}: the labels must be one-hot with the predictions' shape {}, got {}; class indices need "
                    "the sparse loss",
                    op, to_string(predictions.shape), to_string(labels)));
  }
  ops::expect_same_dtype(op, predictions, labels);
}

void check_sparse(std::string_view op, const TensorType& predictions, const TensorType& labels) {
  check_predictions(op, predictions);
  const bool integer = labels.dtype == Dtype::i64 || labels.dtype == Dtype::i32 || labels.dtype == Dtype::u8;
  if (labels.shape == examples(predictions) && integer) return;
  throw Error(fmt::format("{}: the labels must be class indices (int64, int32 or uint8) of shape {}, got {}", op,
                          to_string(examples(predictions)), to_string(labels)));
}

using CheckLabels = void (*)(std::string_view, const TensorType&, const TensorType&);
using Node = SimpleOpRow::Node;

template <CheckLabels check>
std::vector<TensorType> infer_loss(std::string_view op, TensorTypes inputs) {
  ops::expect_count(op, inputs, 2);
  check(op, inputs[0], inputs[1]);
  return {{examples(inputs[0]), inputs[0].dtype}};
}

/// The loss and the probabilities.
template <CheckLabels check>
std::vector<TensorType> infer_softmax_loss(std::string_view op, TensorTypes inputs) {
  return {infer_loss<check>(op, inputs)[0], inputs[0]};
}

template <CheckLabels check>
std::vector<TensorType> infer_loss_gradient(std::string_view op, TensorTypes inputs) {
  ops::expect_count(op, inputs, 3);
  check(op, inputs[1], inputs[2]);
  ops::expect_type(op, "the loss' gradient", inputs[0], {examples(inputs[1]), inputs[1].dtype});
  return {inputs[1]};
}

template <class GradientOp>
std::vector<Value> predictions_gradient(const Node& node) {
  const auto op = std::make_shared<const GradientOp>();
  return {node.graph.apply(op, {node.gradients[0], node.inputs[0], node.inputs[1]}), Value{}};
}

/// The logits' gradient may arrive through the loss, the probabilities, or both.
template <class GradientOp>
std::vector<Value> logits_gradient(const Node& node) {
  Graph& graph = node.graph;
  const Value probabilities = node.outputs[1];
  std::vector<Value> parts;
  if (node.gradients[0]) {
    const auto op = std::make_shared<const GradientOp>();
    parts.push_back(graph.apply(op, {node.gradients[0], probabilities, node.inputs[1]}));
  }
  if (node.gradients[1]) parts.push_back(ops::softmax_gradient(graph, node.gradients[1], probabilities));
  if (parts.size() == 2) parts = {graph.apply(std::make_shared<const AddN>(), parts)};
  return {parts[0], Value{}};
}

std::string attribute(bool from_logits) {
  return fmt::format("from_logits={}", from_logits);
}

void check_targets(std::string_view op, const TensorType& predictions, const TensorType& targets) {
  ops::expect_floating(op, predictions);
  ops::expect_type(op, "the targets", targets, predictions);
}

}  // namespace

CategoricalCrossEntropy::CategoricalCrossEntropy()
    : SimpleOp({.name = "categorical_cross_entropy",
                .infer = &infer_loss<&check_categorical>,
                .gradient = &predictions_gradient<CategoricalCrossEntropyGradient>,
                .flops_per_input = 3}) {}

CategoricalCrossEntropyGradient::CategoricalCrossEntropyGradient()
    : SimpleOp({.name = "categorical_cross_entropy_gradient",
                .infer = &infer_loss_gradient<&check_categorical>,
                .aliases = {{0, 1}}}) {}

SparseCategoricalCrossEntropy::SparseCategoricalCrossEntropy()
    : SimpleOp({.name = "sparse_categorical_cross_entropy",
                .infer = &infer_loss<&check_sparse>,
                .gradient = &predictions_gradient<SparseCategoricalCrossEntropyGradient>}) {}

SparseCategoricalCrossEntropyGradient::SparseCategoricalCrossEntropyGradient()
    : SimpleOp({.name = "sparse_categorical_cross_entropy_gradient",
                .infer = &infer_loss_gradient<&check_sparse>,
                .aliases = {{0, 1}}}) {}

SoftmaxCrossEntropy::SoftmaxCrossEntropy()
    : SimpleOp({.name = "softmax_cross_entropy",
                .infer = &infer_softmax_loss<&check_categorical>,
                .gradient = &logits_gradient<SoftmaxCrossEntropyGradient>,
                .aliases = {{1, 0}},
                .flops_per_input = 8}) {}

SoftmaxCrossEntropyGradient::SoftmaxCrossEntropyGradient()
    : SimpleOp({.name = "softmax_cross_entropy_gradient",
                .infer = &infer_loss_gradient<&check_categorical>,
                .aliases = {{0, 1}},
                .flops_per_output = 4}) {}

SparseSoftmaxCrossEntropy::SparseSoftmaxCrossEntropy()
    : SimpleOp({.name = "sparse_softmax_cross_entropy",
                .infer = &infer_softmax_loss<&check_sparse>,
                .gradient = &logits_gradient<SparseSoftmaxCrossEntropyGradient>,
                .aliases = {{1, 0}},
                .flops_per_input = 5}) {}

SparseSoftmaxCrossEntropyGradient::SparseSoftmaxCrossEntropyGradient()
    : SimpleOp({.name = "sparse_softmax_cross_entropy_gradient",
                .infer = &infer_loss_gradient<&check_sparse>,
                .aliases = {{0, 1}}}) {}

std::string BinaryCrossEntropy::attributes() const {
  return attribute(from_logits);
}

std::vector<TensorType> BinaryCrossEntropy::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  check_targets(name(), inputs[0], inputs[1]);
  return {inputs[0]};
}

std::vector<Value> BinaryCrossEntropy::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  return {graph.apply(std::make_shared<const BinaryCrossEntropyGradient>(from_logits),
                      {output_gradients[0], inputs[0], inputs[1]}),
          Value{}};
}

double BinaryCrossEntropy::flops(TensorTypes, TensorTypes outputs) const {
  return 7.0 * static_cast<double>(outputs[0].elements());
}

std::string BinaryCrossEntropyGradient::attributes() const {
  return attribute(from_logits);
}

std::vector<TensorType> BinaryCrossEntropyGradient::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 3);
  check_targets(name(), inputs[1], inputs[2]);
  ops::expect_type(name(), "the gradient", inputs[0], inputs[1]);
  return {inputs[1]};
}

namespace ops {

Value cross_entropy(Graph& graph, Value probabilities, Value labels) {
  const OpPtr op = is_floating(graph.type(labels).dtype)
                       ? OpPtr(std::make_shared<const CategoricalCrossEntropy>())
                       : OpPtr(std::make_shared<const SparseCategoricalCrossEntropy>());
  return graph.apply(op, {probabilities, labels});
}

Value softmax_cross_entropy(Graph& graph, Value logits, Value labels) {
  const OpPtr op = is_floating(graph.type(labels).dtype) ? OpPtr(std::make_shared<const SoftmaxCrossEntropy>())
                                                         : OpPtr(std::make_shared<const SparseSoftmaxCrossEntropy>());
  return graph.apply(op, {logits, labels});
}

Value binary_cross_entropy(Graph& graph, Value predictions, Value targets, bool from_logits) {
  return graph.apply(std::make_shared<const BinaryCrossEntropy>(from_logits), {predictions, targets});
}

}  // namespace ops
}  // namespace gpubench
