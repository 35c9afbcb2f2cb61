// Sets a share of its inputs to zero in training and scales the rest up; passes them on unchanged otherwise.
#include "core/nn/dropout.h"

#include "core/nn/layer_kind.h"
#include "core/ops/random.h"

namespace gpubench::nn {
namespace {

class Dropout final : public Layer {
 public:
  Dropout(Config config, DeviceId device);
  std::string default_name() const override { return "dropout"; }
  bool draws() const override { return rate_ > 0; }
  TensorType output_type(TensorTypes inputs) const override;

 private:
  void make_variables(VariableFactory& factory, TensorTypes inputs) override;
  Value apply(const CallContext& context, Values inputs) const override;

  double rate_;
  std::uint64_t seed_;
};

Dropout::Dropout(Config given, DeviceId device)
    : Layer(std::move(given), std::move(device)),
      rate_(config().number_within("rate", 0, 1)),
      seed_(static_cast<std::uint64_t>(config().integer("seed"))) {}

TensorType Dropout::output_type(TensorTypes inputs) const {
  return only_input(inputs, -1, "");
}

void Dropout::make_variables(VariableFactory& factory, TensorTypes) {
  const std::uint64_t drawn = factory.next_seed();
  if (config().integer("seed") < 0) seed_ = drawn;
}

Value Dropout::apply(const CallContext& context, Values inputs) const {
  return context.training && rate_ > 0 ? dropped(*this, context, inputs[0], rate_, seed_) : inputs[0];
}

}  // namespace

Value dropped(const Layer& layer, const CallContext& context, Value x, double rate, std::uint64_t seed) {
  if (!context.step) layer.fail("draws by the step counter in training, but this call has none");
  const Shape& shape = context.graph.type(x).shape;
  const std::int64_t row = element_count(std::span(shape).subspan(1));
  const std::uint64_t unused = unused_seed(context, seed, [](const Node& node) {
    const auto* const op = op_as<gpubench::Dropout>(node);
    return op != nullptr ? &op->seed : nullptr;
  });
  return ops::dropout(context.graph, x, context.step, rate, unused, context.first_row * row);
}

LayerKind dropout() {
  return {"Dropout", {"rate"}, {{"rate", 0.0, true}, {"seed", std::int64_t{-1}}}, &construct_layer<Dropout>};
}

}  // namespace gpubench::nn
