#include "core/ops/binary_cross_entropy.h"

#include <fmt/format.h>

#include "core/ops/check.h"

namespace gpubench {
namespace {

std::string attribute(bool from_logits) {
  return fmt::format("from_logits={}", from_logits);
}

void check_targets(std::string_view op, const TensorType& predictions, const TensorType& targets) {
  ops::expect_floating(op, predictions);
  ops::expect_type(op, "the targets", targets, predictions);
}

}  // namespace

std::string BinaryCrossEntropy::attributes() const {
  return attribute(from_logits);
}

std::vector<TensorType> BinaryCrossEntropy::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 2);
  check_targets(name(), inputs[0], inputs[1]);
  return {inputs[0]};
}

std::vector<Value> BinaryCrossEntropy::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value>,
                                                std::span<const Value> output_gradients) const {
  return {graph.apply(std::make_shared<const BinaryCrossEntropyGradient>(from_logits),
                      {output_gradients[0], inputs[0], inputs[1]}),
          Value{}};
}

double BinaryCrossEntropy::flops(std::span<const TensorType>, std::span<const TensorType> outputs) const {
  return 7.0 * static_cast<double>(outputs[0].elements());
}

std::string BinaryCrossEntropyGradient::attributes() const {
  return attribute(from_logits);
}

std::vector<TensorType> BinaryCrossEntropyGradient::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 3);
  check_targets(name(), inputs[1], inputs[2]);
  ops::expect_type(name(), "the gradient", inputs[0], inputs[1]);
  return {inputs[1]};
}

namespace ops {

Value binary_cross_entropy(Graph& graph, Value predictions, Value targets, bool from_logits) {
  return graph.apply(std::make_shared<const BinaryCrossEntropy>(from_logits), {predictions, targets});
}

}  // namespace ops
}  // namespace gpubench
