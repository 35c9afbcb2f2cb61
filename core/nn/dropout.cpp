#include "core/nn/dropout.h"

#include <fmt/format.h>

#include "core/ops/random.h"

namespace gpubench::nn {

LayerKind Dropout::layer_kind() {
  return {"Dropout", {"rate"}, {{"rate", 0.0, true}, {"seed", std::int64_t{-1}}}, &construct_layer<Dropout>};
}

Dropout::Dropout(Config given, DeviceId device)
    : Layer(std::move(given), std::move(device)),
      rate_(config().number_within("rate", 0, 1)),
      seed_(static_cast<std::uint64_t>(config().integer("seed"))) {}

TensorType Dropout::output_type(std::span<const TensorType> inputs) const {
  return only_input(inputs, -1, "");
}

void Dropout::make_variables(VariableFactory& factory, std::span<const TensorType>) {
  const std::uint64_t drawn = factory.next_seed();
  if (config().integer("seed") < 0) seed_ = drawn;
}

Value Dropout::apply(const CallContext& context, std::span<const Value> inputs) const {
  if (!context.training || rate_ == 0) return inputs[0];
  if (!context.step) fail("draws by the step counter in training, but this call has none");
  // The node's place keeps the masks apart when one layer is applied several times in a graph.
  const std::uint64_t seed = seed_ + (static_cast<std::uint64_t>(context.graph.nodes().size()) << 32);
  return ops::dropout(context.graph, inputs[0], context.step, rate_, seed);
}

}  // namespace gpubench::nn
