// Sets a share of its inputs to zero in training and scales the rest up; passes them on unchanged otherwise.
#include "core/nn/dropout.h"

#include "core/nn/layer_kind.h"
#include "core/ops/broadcast.h"
#include "core/ops/elementwise.h"
#include "core/ops/random.h"

namespace gpubench::nn {
namespace {

class Dropout final : public SeededLayer {
 public:
  Dropout(Config config, DeviceId device);
  std::string default_name() const override { return "dropout"; }
  MaskRule mask_rule() const override { return MaskRule::passes; }
  bool draws() const override { return rate_ > 0; }
  TensorType output_type(TensorTypes inputs) const override;

 private:
  Value apply(const CallContext& context, Values inputs) const override;

  double rate_;
};

Dropout::Dropout(Config given, DeviceId device)
    : SeededLayer(std::move(given), std::move(device)), rate_(config().number_within("rate", 0, 1)) {}

TensorType Dropout::output_type(TensorTypes inputs) const {
  return only_input(inputs, -1, "");
}

Value Dropout::apply(const CallContext& context, Values inputs) const {
  return context.training && rate_ > 0 ? dropped(*this, context, inputs[0], rate_, seed()) : inputs[0];
}

void require_step(const Layer& layer, const CallContext& context) {
  if (!context.step) layer.fail("draws by the step counter in training, but this call has none");
}

}  // namespace

Value first_number(const Layer& layer, const CallContext& context) {
  require_step(layer, context);
  constexpr double numbers_of_step = 1 << 20;
  const auto number = [&](double value) { return ops::scalar(context.graph, value, Dtype::i64); };
  return ops::add(context.graph, ops::mul(context.graph, context.step, number(numbers_of_step)),
                  number(static_cast<double>(context.first_row)));
}

Value dropped(const Layer& layer, const CallContext& context, Value x, double rate, std::uint64_t seed) {
  require_step(layer, context);
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
