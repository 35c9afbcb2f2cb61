// Layers around another layer: Bidirectional, which runs a recurrent layer over the sequence and over its reverse, and
// TimeDistributed, which applies a layer to each step. The option `layer` is the inner layer's description; wrappers
// make their own weights from it.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/architecture.h"
#include "core/nn/layer_kind.h"
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
    if (inner_ == nullptr) throw Error("Bidirectional: the layer must be an LSTM or a GRU");
    if (inner_->goes_backwards()) throw Error("Bidirectional: the layer must not have go_backwards");
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
  TensorType output_type(TensorTypes inputs) const override {
    const TensorType& input = only_input(inputs.first(std::min<std::size_t>(inputs.size(), 1)), 2, "[steps, features]");
    check_mask(*this, inputs);
    if (weights_[0].kernel && weights_[0].kernel->type.shape[0] != input.shape[1]) {
      fail(fmt::format("was built for {} features, got {}", weights_[0].kernel->type.shape[0], to_string(input)));
    }
    TensorType output = inner_->output_type(inputs);
    if (concatenates_) output.shape.back() *= 2;
    return output;
  }

 private:
  void make_variables(VariableFactory& factory, TensorTypes inputs) override {
    for (std::size_t i = 0; i < directions.size(); ++i) {
      const auto make = [&](const std::string& name, const HostTensor& initial) {
        return make_variable(factory, directions[i] + name, initial, inner_->trainable());
      };
      weights_[i] = inner_->make_weights(factory, inputs[0].shape[1], make);
    }
  }
  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    const Sequence sequence = sequence_of(graph, inputs);
    const bool sequences = inner_->returns_sequences();
    const auto direction = [&](const RecurrentWeights& weights, bool backwards) {
      const Value states = inner_->run(context, sequence, weights, backwards);
      if (!sequences) return last_state(graph, states, backwards);
      if (!sequence.mask) return states;
      // As in Keras, Bidirectional returns zeros for masked steps.
      const Value mask = ops::cast(graph, sequence.mask, graph.type(states).dtype);
      Shape shape = graph.type(mask).shape;
      shape.push_back(1);
      return ops::mul(graph, states, ops::reshape(graph, mask, shape));
    };
    const Value forward = direction(weights_[0], false), backward = direction(weights_[1], true);
    const Value merged = merge_(graph, forward, backward);
    return sequences ? swap_batch_and_steps(graph, merged) : merged;
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
  TensorType output_type(TensorTypes inputs) const override {
    const TensorType step = step_of(inputs);
    TensorType output = inner_->infer(std::span(&step, 1));
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
    Graph& graph = context.graph;
    const Shape shape = graph.type(inputs[0]).shape;
    Shape rows(shape.begin() + 1, shape.end());
    rows[0] *= shape[0];
    CallContext of_steps = context;
    of_steps.first_row *= shape[1];
    if (of_steps.replica && of_steps.replica->batch_rows) *of_steps.replica->batch_rows *= shape[1];
    const Value x = ops::reshape(graph, inputs[0], rows);
    const Value y = inner_->call(of_steps, std::span(&x, 1));
    Shape result = graph.type(y).shape;
    result[0] = shape[1];
    result.insert(result.begin(), shape[0]);
    return ops::reshape(graph, y, result);
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
