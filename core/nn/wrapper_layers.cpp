// Layers around another layer: Bidirectional, which runs a recurrent layer over the sequence and over its reverse, and
// TimeDistributed, which applies a layer to each step. The option `layer` is the inner layer's description; wrappers
// make their own weights from it.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/architecture.h"
#include "core/nn/layer_kind.h"
#include "core/nn/masks.h"
#include "core/nn/recurrent_layer.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

/// The inner layer, which must compute in the wrapper's type.
LayerPtr inner_layer(const Layer& wrapper) {
  LayerPtr inner;
  try {
    inner = layer_from_text(wrapper.config().text("layer"), wrapper.device());
  } catch (const Error& error) {
    throw Error(fmt::format("{}: the option 'layer': {}", wrapper.kind(), error.what()));
  }
  if (inner->policy().name != wrapper.policy().name) {
    throw Error(fmt::format("{}: the layer's dtype is {}, that of {} is {}; both must be equal", wrapper.kind(),
                            wrapper.policy().name, inner->kind(), inner->policy().name));
  }
  if (!inner->config().text("activity_regularizer").empty()) {
    throw Error(fmt::format("{}: its {} has an activity_regularizer, which is possible for the {} itself only",
                            wrapper.kind(), inner->kind(), wrapper.kind()));
  }
  return inner;
}

struct MergeMode {
  const char* name;
  Value (*merge)(Graph&, Value forward, Value backward);
};

Value half_of_sum(Graph& graph, Value a, Value b) {
  const Value sum = ops::add(graph, a, b);
  return ops::mul(graph, sum, ops::scalar(graph, 0.5, graph.type(sum).dtype));
}

constexpr std::array merge_modes = {
    MergeMode{"concat",
              [](Graph& graph, Value a, Value b) {
                return ops::concat(graph, std::array{a, b}, -1);
              }},
    MergeMode{"sum", &ops::add},
    MergeMode{"mul", &ops::mul},
    MergeMode{"ave", &half_of_sum},
};

/// What the names of the variables of both directions begin with.
constexpr std::array directions{"forward_", "backward_"};

class Bidirectional final : public Layer {
 public:
  Bidirectional(Config given, DeviceId device) : Layer(std::move(given), std::move(device)) {
    inner_ = std::dynamic_pointer_cast<RecurrentLayer>(inner_layer(*this));
    if (inner_ == nullptr) throw Error("Bidirectional: the layer must be an LSTM, a GRU or a SimpleRNN");
    if (inner_->goes_backwards()) throw Error("Bidirectional: the layer must not have go_backwards");
    if (inner_->config().flag("stateful")) throw Error("Bidirectional: the layer must not be stateful");
    for (const char* const direction : directions) take_weight_options(*inner_, direction);
    const std::string& mode = config().text("merge_mode");
    const auto* const found =
        std::ranges::find(merge_modes, mode, [](const MergeMode& row) { return std::string_view(row.name); });
    if (found == merge_modes.end()) {
      throw Error(fmt::format("Bidirectional: merge_mode must be 'concat', 'sum', 'mul' or 'ave', got '{}'", mode));
    }
    merge_ = found->merge;
    concatenates_ = found == merge_modes.begin();
  }
  std::string default_name() const override { return "bidirectional"; }
  bool draws() const override { return inner_->draws(); }
  MaskRule mask_rule() const override { return inner_->mask_rule(); }
  bool reads_masks() const override { return true; }
  TensorType output_type(TensorTypes inputs) const override { return output_types(inputs, {}).front(); }

 private:
  /// Of both directions, the forward one's first.
  Shape sizes() const {
    Shape all = inner_->cell().state_sizes();
    const Shape one = all;
    all.insert(all.end(), one.begin(), one.end());
    return all;
  }
  std::vector<TensorType> output_types(TensorTypes inputs, TensorTypes states) const override {
    const TensorType& input = only_input(inputs.first(std::min<std::size_t>(inputs.size(), 1)), 2, "[steps, features]");
    check_mask(*this, inputs);
    if (weights_[0].kernel && weights_[0].kernel->type.shape[0] != input.shape[1]) {
      fail(fmt::format("was built for {} features, got {}", weights_[0].kernel->type.shape[0], to_string(input)));
    }
    check_states(*this, sizes(), states, true);
    std::vector<TensorType> outputs{inner_->infer(inputs)};
    if (concatenates_) outputs[0].shape.back() *= 2;
    if (!inner_->returns_state()) return outputs;
    for (const std::int64_t size : sizes()) outputs.push_back({{size}, input.dtype});
    return outputs;
  }
  std::vector<Value> output_masks(const CallContext& context, const LayerArguments& given) const override {
    const Value mask = mask_of_steps(given);
    if (!inner_->returns_sequences() || !mask) return {};
    return {ops::cast(context.graph, mask, Dtype::boolean)};
  }
  void make_variables(VariableFactory& factory, TensorTypes inputs) override {
    for (std::size_t i = 0; i < directions.size(); ++i) {
      const auto make = [&](const std::string& name, const HostTensor& initial) {
        return make_variable(factory, directions[i] + name, initial, inner_->trainable());
      };
      weights_[i] = inner_->cell().make_weights(factory, inputs[0].shape[1], make);
    }
  }
  Value apply(const CallContext& context, Values inputs) const override {
    return apply_all(context, {.inputs = inputs}).values.front();
  }
  LayerOutputs apply_all(const CallContext& context, const LayerArguments& given) const override {
    Graph& graph = context.graph;
    if (const Value mask = mask_of_steps(given)) expect_mask(*this, graph, mask, given.inputs[0], 2);
    const Sequence sequence = sequence_of(graph, given);
    const bool sequences = inner_->returns_sequences();
    LayerOutputs outputs{{Value{}}, {}};
    const auto direction = [&](std::size_t index) {
      Sequence own = sequence;
      const auto half = static_cast<std::ptrdiff_t>(sequence.states.size() / 2);
      const auto first = sequence.states.begin() + (index == 0 ? 0 : half);
      own.states.assign(first, first + half);
      const RecurrentRun run =
          inner_->cell().run(context, own, weights_[index], index == 1, {sequences, inner_->returns_state()});
      if (inner_->returns_state()) outputs.values.insert(outputs.values.end(), run.states.begin(), run.states.end());
      if (!sequences) return run.last;
      // As in Keras, Bidirectional returns zeros for masked steps.
      return sequence.mask ? kept_by(graph, sequence.mask, run.outputs) : run.outputs;
    };
    const Value forward = direction(0), backward = direction(1);
    const Value merged = merge_(graph, forward, backward);
    outputs.values[0] = sequences ? swap_batch_and_steps(graph, merged) : merged;
    return outputs;
  }

  std::shared_ptr<RecurrentLayer> inner_;
  Value (*merge_)(Graph&, Value, Value) = nullptr;
  bool concatenates_ = false;
  std::array<RecurrentWeights, 2> weights_;
};

/// Steps are further rows of the batch for the inner layer.
class TimeDistributed final : public Layer {
 public:
  TimeDistributed(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)), inner_(inner_layer(*this)) {
    take_weight_options(*inner_, "");
  }
  std::string default_name() const override { return "time_distributed"; }
  bool draws() const override { return inner_->draws(); }
  MaskRule mask_rule() const override { return MaskRule::passes; }
  bool reads_masks() const override { return inner_->reads_masks(); }
  TensorType output_type(TensorTypes inputs) const override {
    const TensorType step = step_of(inputs);
    const std::vector<TensorType> outputs = inner_->infer(std::span(&step, 1), {});
    if (outputs.size() > 1)
      fail(fmt::format("takes a layer that returns one value, and {} returns {}", inner_->kind(), outputs.size()));
    TensorType output = outputs.front();
    output.shape.insert(output.shape.begin(), inputs[0].shape[0]);
    return output;
  }

 private:
  /// Variables of the inner layer that belong to the wrapper: "time_distributed/kernel".
  class Adopting final : public VariableFactory {
   public:
    Adopting(TimeDistributed& owner, VariableFactory& factory) : owner_(owner), factory_(factory) {}
    VariablePtr create(std::string name, const HostTensor& initial, const DeviceId&, bool trainable,
                       OwnerPtr) override {
      return owner_.make_variable(factory_, name.substr(name.rfind('/') + 1), initial,
                                  trainable && owner_.inner_->trainable());
    }
    std::uint64_t next_seed() override { return factory_.next_seed(); }

   private:
    TimeDistributed& owner_;
    VariableFactory& factory_;
  };

  TensorType step_of(TensorTypes inputs) const {
    if (inputs.size() != 1) fail(fmt::format("takes one input, got {}", inputs.size()));
    const TensorType& input = inputs[0];
    if (input.rank() < 1 || input.shape[0] < 1) {
      fail(fmt::format("expects [steps, ...] per example with at least one step, got {}", to_string(input)));
    }
    return {Shape(input.shape.begin() + 1, input.shape.end()), input.dtype};
  }
  void make_variables(VariableFactory& factory, TensorTypes inputs) override {
    inner_->set_name(name());
    Adopting adopting(*this, factory);
    const TensorType step = step_of(inputs);
    inner_->build(adopting, std::span(&step, 1));
  }
  Value apply(const CallContext& context, Values inputs) const override {
    return apply_all(context, {.inputs = inputs}).values.front();
  }
  LayerOutputs apply_all(const CallContext& context, const LayerArguments& given) const override {
    Graph& graph = context.graph;
    const Shape shape = graph.type(given.inputs[0]).shape;
    CallContext of_steps = context;
    of_steps.first_row *= shape[1];
    if (of_steps.replica && of_steps.replica->batch_rows) *of_steps.replica->batch_rows *= shape[1];
    const auto in_rows = [&](Value x) {
      const Shape& all = graph.type(x).shape;
      Shape rows(all.begin() + 1, all.end());
      rows[0] *= all[0];
      return ops::reshape(graph, x, rows);
    };
    std::vector<Value> masks{Value{}};
    if (const Value mask = given.mask(0)) {
      const Shape& steps = graph.type(mask).shape;
      if (steps.size() < 2 || steps[0] != shape[0] || steps[1] != shape[1]) {
        fail(fmt::format("the mask must begin with [{}, {}] for an input {} of the batch, got {}", shape[0], shape[1],
                         to_string(shape), to_string(steps)));
      }
      if (inner_->reads_masks()) masks[0] = in_rows(mask);
    }
    const Value x = in_rows(given.inputs[0]);
    const Value y = inner_->call(of_steps, std::span(&x, 1), {}, masks).values.front();
    Shape result = graph.type(y).shape;
    result[0] = shape[1];
    result.insert(result.begin(), shape[0]);
    return {{ops::reshape(graph, y, result)}, {}};
  }

  LayerPtr inner_;
};

}  // namespace

LayerKind bidirectional() {
  return {"Bidirectional",
          {"layer", "merge_mode"},
          {{"layer", std::string(), true}, {"merge_mode", std::string("concat")}},
          &construct_layer<Bidirectional>};
}
LayerKind time_distributed() {
  return {"TimeDistributed", {"layer"}, {{"layer", std::string(), true}}, &construct_layer<TimeDistributed>};
}

}  // namespace gpubench::nn
