#include "core/ops/epilogue.h"

#include "core/ops/unary.h"

namespace gpubench {

Value undo_activation(Graph& graph, Activation activation, const OpPtr& linear, std::span<const Value> inputs, Value y,
                      Value dy) {
  if (activation != Activation::gelu) return ops::activation_gradient(graph, activation, dy, y);
  return graph.apply(std::make_shared<const GeluGradient>(), {dy, graph.apply(linear, inputs)});
}

}  // namespace gpubench
