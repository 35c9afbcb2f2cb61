#include "core/train/compress/shrink.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "core/nn/linear_layer.h"
#include "core/ops/shape_ops.h"
#include "core/train/compress/rebuilt_model.h"

namespace gpubench {
namespace {

using Indices = std::vector<std::int64_t>;

Indices all_of(std::int64_t count) {
  Indices all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// The entries `kept` of one axis.
HostTensor select(const HostTensor& from, std::size_t axis, const Indices& kept) {
  TensorType type = from.type();
  type.shape[axis] = static_cast<std::int64_t>(kept.size());
  HostTensor to(type);
  const auto product = [&](std::size_t first, std::size_t last) {
    std::size_t count = 1;
    for (std::size_t i = first; i < last; ++i) count *= static_cast<std::size_t>(from.shape()[i]);
    return count;
  };
  const std::size_t outer = product(0, axis), count = product(axis, axis + 1);
  const std::size_t bytes = from.bytes() / (outer * count);
  std::byte* at = to.data();
  for (std::size_t i = 0; i < outer; ++i) {
    for (const std::int64_t index : kept) {
      const std::byte* row = from.data() + (i * count + static_cast<std::size_t>(index)) * bytes;
      at = std::copy_n(row, bytes, at);
    }
  }
  return to;
}

/// Adds each output's squared norm in a kernel [..., outputs].
void add_norms(const HostTensor& kernel, std::vector<double>& norms) {
  norms.resize(static_cast<std::size_t>(kernel.shape().back()));
  const auto values = kernel.values<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    norms[i % norms.size()] += value * value;
  }
}

/// The outputs with the largest norms, in their order.
Indices largest(const std::vector<double>& norms, double share) {
  const std::int64_t outputs = std::ssize(norms);
  Indices order = all_of(outputs);
  std::ranges::stable_sort(order, std::greater{}, [&](std::int64_t i) { return norms[static_cast<std::size_t>(i)]; });
  const auto gone = static_cast<std::int64_t>(std::llround(share * static_cast<double>(outputs)));
  order.resize(static_cast<std::size_t>(std::max<std::int64_t>(1, outputs - gone)));
  std::ranges::sort(order);
  return order;
}

/// Whether a layer without weights puts its inputs side by side along the channels.
bool concatenates(const Model& model, const Model::Call& call) {
  if (call.inputs.size() < 2 || !call.layer->variables().empty()) return false;
  Graph graph;
  std::vector<Value> inputs;
  for (const std::size_t input : call.inputs) {
    TensorType type = model.calls()[input].type;
    type.shape.insert(type.shape.begin(), 1);
    inputs.push_back(graph.input(std::move(type), "x"));
  }
  const Value result = call.layer->call({.graph = graph}, inputs);
  const auto* const concat = op_as<Concat>(graph.node(result));
  if (concat == nullptr || graph.node(result).inputs != inputs) return false;
  return concat->axis == -1 || concat->axis == graph.type(result).rank() - 1;
}

/// Whether each output reads all channels, and not only those of its group.
bool reads_all(const LinearLayer& layer, std::int64_t channels) {
  const Shape& kernel = layer.kernel()->type.shape;
  return kernel[kernel.size() - 2] == channels;
}

/// Which channels (the last dimension) of each call's output stay. Calls whose channels go together form a set: those
/// of one layer, and those that an element-wise layer such as Add joins.
class ChannelSets {
 public:
  ChannelSets(Runtime& runtime, const Model& model, const std::map<std::string, double>& shares)
      : runtime_(runtime), model_(model), shares_(shares), parent_(model.calls().size()), reasons_(parent_.size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    for (std::size_t i = 0; i < parent_.size(); ++i) connect(i);
    for (const std::size_t output : model.outputs()) hold(output, "are the model's answers; they all stay");
    hold_sources();
  }

  const Indices& kept(std::size_t call) {
    const std::size_t set = root(call);
    const auto known = kept_.find(set);
    return known != kept_.end() ? known->second : kept_.emplace(set, choose(set)).first->second;
  }
  bool shrinks(std::size_t call) {
    const Shape& shape = model_.calls()[call].type.shape;
    return !shape.empty() && std::ssize(kept(call)) < shape.back();
  }

 private:
  std::size_t root(std::size_t call) const {
    while (parent_[call] != call) call = parent_[call];
    return call;
  }
  void unite(std::size_t a, std::size_t b) {
    const std::size_t one = root(a), other = root(b);
    if (one == other) return;
    parent_[std::max(one, other)] = std::min(one, other);
    hold(std::min(one, other), reasons_[std::max(one, other)]);
  }
  /// The set keeps all channels, for this reason; an empty one changes nothing.
  void hold(std::size_t call, const std::string& reason) {
    std::string& known = reasons_[root(call)];
    if (known.empty()) known = reason;
  }

  void connect(std::size_t index) {
    const std::vector<Model::Call>& calls = model_.calls();
    const Model::Call& call = calls[index];
    const auto first =
        static_cast<std::size_t>(std::ranges::find(calls, call.layer, &Model::Call::layer) - calls.begin());
    if (first != index && call.layer->linear() != nullptr) {
      unite(index, first);
      unite(call.inputs[0], calls[first].inputs[0]);
      return;
    }
    if (first != index && !call.layer->variables().empty()) unite(index, first);
    if (call.inputs.empty()) return hold(index, "join the model's input, whose channels all stay");
    const auto channels = [&](std::size_t one) {
      return calls[one].type.shape.empty() ? 0 : calls[one].type.shape.back();
    };
    if (call.layer->linear() != nullptr && reads_all(*call.layer->linear(), channels(call.inputs[0]))) return;
    if (call.layer->channels() == Channels::flattened || concatenates(model_, call)) return derived_.push_back(index);
    const auto same = [&](std::size_t input) { return channels(input) == channels(index); };
    const bool linear = call.layer->linear() != nullptr;  // in groups
    if (!linear && call.layer->channels() == Channels::kept && std::ranges::all_of(call.inputs, same)) {
      for (const std::size_t input : call.inputs) unite(index, input);
      return;
    }
    const std::string reason = fmt::format("must stay: {} mixes them", call.layer->title());
    hold(index, reason);
    for (const std::size_t input : call.inputs) hold(input, reason);
  }

  /// Of calls whose channels follow from their inputs': what they must keep, and what else is joined with them.
  void hold_sources() {
    for (std::size_t i = derived_.size(); i-- > 0;) {
      const Model::Call& call = model_.calls()[derived_[i]];
      const std::size_t set = root(derived_[i]);
      const auto outside = [&](std::size_t other) { return root(other) == set && !derived_from(other, derived_[i]); };
      std::string reason = reasons_[set];
      for (std::size_t other = 0; other < parent_.size() && reason.empty(); ++other) {
        if (outside(other)) reason = fmt::format("must stay: other layers join what {} gives", call.layer->title());
      }
      hold(set, reason);
      for (const std::size_t input : call.inputs) hold(input, reason);
    }
  }
  /// Whether `call` only passes on the channels of `source`.
  bool derived_from(std::size_t call, std::size_t source) const {
    while (call != source) {
      const Model::Call& one = model_.calls()[call];
      if (one.inputs.size() != 1 || one.layer->linear() != nullptr || one.layer->channels() != Channels::kept)
        return false;
      call = one.inputs[0];
    }
    return true;
  }

  Indices choose(std::size_t set) {
    const auto derived = std::ranges::find(derived_, set);
    if (derived != derived_.end() && reasons_[set].empty()) return follow(model_.calls()[set]);
    const Layer* named = nullptr;
    double share = 0;
    std::vector<double> norms;
    std::set<const Layer*> seen;
    for (std::size_t i = 0; i < parent_.size(); ++i) {
      const Layer& layer = *model_.calls()[i].layer;
      if (root(i) != set || layer.linear() == nullptr || !seen.insert(&layer).second) continue;
      const auto found = shares_.find(layer.name());
      if (found == shares_.end()) continue;
      if (named != nullptr && share != found->second) {
        throw Error(
            fmt::format("shrink: the outputs of layers '{}' and '{}' are joined, so that both lose the same "
                        "units; give them one share, got {} and {}",
                        named->name(), layer.name(), share, found->second));
      }
      named = &layer;
      share = found->second;
    }
    const Shape& shape = model_.calls()[set].type.shape;
    if (named == nullptr) return all_of(shape.empty() ? 0 : shape.back());
    if (!reasons_[set].empty()) {
      throw Error(fmt::format("shrink: the units of layer '{}' {}", named->name(), reasons_[set]));
    }
    for (const Layer* const layer : seen) add_norms(read_floats(*layer->linear()->kernel()), norms);
    return largest(norms, share);
  }

  Indices follow(const Model::Call& call) {
    Indices result;
    std::int64_t first = 0;
    for (const std::size_t input : call.inputs) {
      const Shape& from = model_.calls()[input].type.shape;
      const std::int64_t channels = from.back();
      // Flattened, [height, width, channels] becomes rows of channels.
      const std::int64_t places = call.layer->channels() == Channels::flattened ? element_count(from) / channels : 1;
      for (std::int64_t place = 0; place < places; ++place) {
        for (const std::int64_t channel : kept(input)) result.push_back(first + place * channels + channel);
      }
      first += channels * places;
    }
    return result;
  }

  HostTensor read_floats(const Variable& variable) const {
    HostTensor value = runtime_.variables().read(variable);
    if (value.dtype() == Dtype::f32) return value;
    throw Error(
        fmt::format("shrink: {} is {}; only float32 weights can be compared", variable.name, to_string(value.type())));
  }

  Runtime& runtime_;
  const Model& model_;
  const std::map<std::string, double>& shares_;
  std::vector<std::size_t> parent_;
  std::vector<std::string> reasons_;  // by root: why nothing of the set may go
  std::vector<std::size_t> derived_;
  std::map<std::size_t, Indices> kept_;
};

class Shrinking {
 public:
  Shrinking(Runtime& runtime, const Model& model, const std::map<std::string, double>& shares)
      : runtime_(runtime), model_(model) {
    if (!model.built()) throw Error(fmt::format("shrink: model '{}' has no weights yet", model.name()));
    check_shares(shares);
    sets_.emplace(runtime, model, shares);
  }

  ModelPtr run(VariableFactory& factory) {
    std::vector<HostTensor> weights;
    for (const LayerPtr& layer : model_.layers()) append_weights(call_of(*layer), weights);
    const auto options_of = [&](const Layer& layer) { return options(layer); };
    ModelPtr smaller = rebuilt_model(factory, model_, options_of, {});
    const std::vector<VariablePtr> variables = smaller->variables();
    for (std::size_t i = 0; i < variables.size(); ++i) runtime_.variables().write(*variables[i], weights[i]);
    return smaller;
  }

 private:
  void check_shares(const std::map<std::string, double>& shares) const {
    const std::vector<LayerPtr> layers = model_.layers();
    for (const auto& [name, share] : shares) {
      const auto found = std::ranges::find(layers, name, [](const LayerPtr& layer) { return layer->name(); });
      if (found == layers.end() || (*found)->linear() == nullptr) {
        throw Error(fmt::format("shrink: model '{}' has no Dense or Conv2D layer '{}'", model_.name(), name));
      }
      if (!(share >= 0 && share < 1)) {
        throw Error(fmt::format("shrink: the share of layer '{}' must be at least 0 and below 1, got {}", name, share));
      }
      if ((*found)->linear()->quantization() != LinearLayer::Quantization::none) {
        throw Error(fmt::format("shrink: layer '{}' is quantized; shrink the model first", name));
      }
    }
  }

  /// The layer's first call.
  std::size_t call_of(const Layer& layer) const {
    const auto is_of = [&](const Model::Call& call) { return call.layer.get() == &layer; };
    return static_cast<std::size_t>(std::ranges::find_if(model_.calls(), is_of) - model_.calls().begin());
  }

  ConfigEntries options(const Layer& layer) {
    ConfigEntries options = layer.config().entries();
    const std::size_t call = call_of(layer);
    const bool is_first = !model_.calls()[call].inputs.empty() && model_.calls()[call].inputs[0] == model_.inputs()[0];
    if (!is_first) set_option(options, "input_shape", Shape{});  // later layers take what comes
    if (layer.linear() != nullptr) set_option(options, layer.linear()->width_option(), std::ssize(sets_->kept(call)));
    return options;
  }

  void append_weights(std::size_t call, std::vector<HostTensor>& weights) {
    const Layer& layer = *model_.calls()[call].layer;
    for (const VariablePtr& variable : layer.variables()) {
      HostTensor value = runtime_.variables().read(*variable);
      const std::size_t rank = value.shape().size();
      if (layer.linear() != nullptr && variable == layer.linear()->kernel()) {
        const std::size_t input = model_.calls()[call].inputs[0];
        if (sets_->shrinks(input)) value = select(value, rank - 2, sets_->kept(input));
      }
      const bool by_channel = rank > 0 && (layer.linear() != nullptr || layer.channels() == Channels::kept);
      if (by_channel && sets_->shrinks(call)) value = select(value, rank - 1, sets_->kept(call));
      weights.push_back(std::move(value));
    }
  }

  Runtime& runtime_;
  const Model& model_;
  std::optional<ChannelSets> sets_;
};

}  // namespace

ModelPtr shrink(Runtime& runtime, VariableFactory& factory, const Model& model,
                const std::map<std::string, double>& shares) {
  runtime.synchronize();
  return Shrinking(runtime, model, shares).run(factory);
}

}  // namespace gpubench
