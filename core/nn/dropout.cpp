// Sets a share of its inputs to zero in training and scales the rest up; passes them on unchanged otherwise.
#include <algorithm>
#include <fmt/format.h>

#include "core/nn/layer_kind.h"
#include "core/ops/random.h"

namespace gpubench::nn {
namespace {

class Dropout final : public Layer {
 public:
  Dropout(Config config, DeviceId device);
  std::string default_name() const override { return "dropout"; }
  bool draws() const override { return rate_ > 0; }
  TensorType output_type(std::span<const TensorType> inputs) const override;

 private:
  void make_variables(VariableFactory& factory, std::span<const TensorType> inputs) override;
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;

  std::uint64_t unused_seed(const CallContext& context) const;

  double rate_;
  std::uint64_t seed_;
};

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
  const Shape& shape = context.graph.type(inputs[0]).shape;
  const std::int64_t row = element_count(std::span(shape).subspan(1));
  return ops::dropout(context.graph, inputs[0], context.step, rate_, unused_seed(context), context.first_row * row);
}

/// Keeps the masks apart when one layer is applied several times in a graph.
std::uint64_t Dropout::unused_seed(const CallContext& context) const {
  const auto nodes = std::span(context.graph.nodes()).subspan(context.first_node);
  for (std::uint64_t applied = 0;; ++applied) {
    const std::uint64_t seed = seed_ + (applied << 32);
    const auto uses = [&](const Node& node) {
      const auto* const op = dynamic_cast<const gpubench::Dropout*>(node.op.get());
      return op != nullptr && op->seed == seed;
    };
    if (std::ranges::none_of(nodes, uses)) return seed;
  }
}

}  // namespace

LayerKind dropout() {
  return {"Dropout", {"rate"}, {{"rate", 0.0, true}, {"seed", std::int64_t{-1}}}, &construct_layer<Dropout>};
}

}  // namespace gpubench::nn
