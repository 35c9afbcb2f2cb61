#include "core/ops/epilogue.h"

#include "core/ops/elementwise.h"

namespace gpubench {

Value undo_activation(Graph& graph, Activation activation, const OpPtr& linear, std::span<const Value> inputs, Value y,
                      Value dy) {
  if (!ops::needs_argument(activation)) return ops::activation_gradient(graph, activation, dy, y);
  const Value x = graph.apply(linear, inputs);
  return activation == Activation::gelu ? ops::gelu_gradient(graph, dy, x) : ops::gelu_tanh_gradient(graph, dy, x);
}

}  // namespace gpubench
