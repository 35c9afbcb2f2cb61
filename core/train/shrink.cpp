#include "core/train/shrink.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <numeric>
#include <vector>

#include "core/base/error.h"
#include "core/nn/layer_kind.h"
#include "core/nn/linear_layer.h"
#include "core/train/rebuilt_model.h"

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

/// The outputs of a kernel [..., outputs] with the largest norms, in their order.
Indices largest(const HostTensor& kernel, double share) {
  const std::int64_t outputs = kernel.shape().back();
  std::vector<double> norms(static_cast<std::size_t>(outputs));
  const auto values = kernel.values<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    norms[i % norms.size()] += value * value;
  }
  Indices order = all_of(outputs);
  std::ranges::stable_sort(order, std::greater{}, [&](std::int64_t i) { return norms[static_cast<std::size_t>(i)]; });
  const auto gone = static_cast<std::int64_t>(std::llround(share * static_cast<double>(outputs)));
  order.resize(static_cast<std::size_t>(std::max<std::int64_t>(1, outputs - gone)));
  std::ranges::sort(order);
  return order;
}

class Shrinking {
 public:
  Shrinking(Runtime& runtime, const Model& model, const std::map<std::string, double>& shares)
      : runtime_(runtime), model_(model), shares_(shares) {
    if (!model.built()) throw Error(fmt::format("shrink: model '{}' has no weights yet", model.name()));
    if (!model.sequential()) {
      throw Error(fmt::format("shrink: model '{}' is no chain of layers; gb.Sequential makes one", model.name()));
    }
    check_shares();
  }

  ModelPtr run(VariableFactory& factory) {
    const TensorType input = model_.input_types().front();
    kept_ = all_of(input.shape.back());
    for (std::size_t i = 1; i < model_.calls().size(); ++i) add(model_.calls()[i]);
    auto smaller = std::make_shared<Model>(model_.name(), layers_);
    if (!smaller->defined()) {
      const std::array inputs{input};
      smaller->define(inputs);
    }
    smaller->build(factory);
    const std::vector<VariablePtr> variables = smaller->variables();
    for (std::size_t i = 0; i < variables.size(); ++i) runtime_.variables().write(*variables[i], weights_[i]);
    return smaller;
  }

 private:
  void check_shares() const {
    const LayerPtr* last = nullptr;
    const std::vector<LayerPtr> layers = model_.layers();
    for (const LayerPtr& layer : layers) {
      if (layer->linear() != nullptr) last = &layer;
    }
    for (const auto& [name, share] : shares_) {
      const auto found = std::ranges::find(layers, name, [](const LayerPtr& layer) { return layer->name(); });
      if (found == layers.end() || (*found)->linear() == nullptr) {
        throw Error(fmt::format("shrink: model '{}' has no Dense or Conv2D layer '{}'", model_.name(), name));
      }
      if (*found == *last) {
        throw Error(fmt::format("shrink: the units of layer '{}' are the model's answers; they all stay", name));
      }
      if (share >= 0 && share < 1) continue;
      throw Error(fmt::format("shrink: the share of layer '{}' must be at least 0 and below 1, got {}", name, share));
    }
  }

  void add(const Model::Call& call) {
    const Layer& layer = *call.layer;
    ConfigEntries options = layer.config().entries();
    if (!layers_.empty()) set_option(options, "input_shape", Shape{});  // later layers take what comes
    if (layer.linear() != nullptr) {
      add_linear(*layer.linear(), options);
    } else {
      pass_channels(call);
    }
    layers_.push_back(make_layer(layer.kind(), options, layer.device()));
    layers_.back()->set_name(layer.name());
  }

  /// Through a layer without a kernel.
  void pass_channels(const Model::Call& call) {
    const Layer& layer = *call.layer;
    switch (layer.channels()) {
      case Channels::kept:
        for (const VariablePtr& variable : layer.variables()) weights_.push_back(select(read(*variable), 0, kept_));
        return;
      case Channels::flattened:
        flatten(call);
        return;
      case Channels::mixed:
        if (shrunk_) {
          throw Error(
              fmt::format("shrink: layer '{}' ({}) stands behind a layer that shrinks", layer.name(), layer.kind()));
        }
        kept_ = all_of(call.type.shape.back());
        return;
      case Channels::unknown:
        break;
    }
    throw Error(fmt::format("shrink: it is not known what of layer '{}' ({}) would stay", layer.name(), layer.kind()));
  }

  void add_linear(const LinearLayer& layer, ConfigEntries& options) {
    if (layer.quantization() != LinearLayer::Quantization::none)
      throw Error(fmt::format("shrink: layer '{}' is quantized; shrink the model first", layer.name()));
    const HostTensor kernel = read(*layer.kernel());
    const std::size_t output_axis = kernel.shape().size() - 1;
    const HostTensor read_less = select(kernel, output_axis - 1, kept_);
    const auto share = shares_.find(layer.name());
    kept_ = share == shares_.end() ? all_of(kernel.shape().back()) : largest(kernel, share->second);
    shrunk_ = std::ssize(kept_) < kernel.shape().back();
    weights_.push_back(select(read_less, output_axis, kept_));
    if (layer.bias()) weights_.push_back(select(read(*layer.bias()), 0, kept_));
    set_option(options, layer.width_option(), std::ssize(kept_));
  }

  /// [height, width, channels] becomes rows of channels.
  void flatten(const Model::Call& call) {
    const Shape& from = model_.calls()[call.inputs[0]].type.shape;
    const std::int64_t channels = from.back(), places = element_count(from) / channels;
    Indices flat;
    for (std::int64_t place = 0; place < places; ++place) {
      for (const std::int64_t channel : kept_) flat.push_back(place * channels + channel);
    }
    kept_ = std::move(flat);
  }

  HostTensor read(const Variable& variable) const {
    HostTensor value = runtime_.variables().read(variable);
    if (value.dtype() == Dtype::f32) return value;
    throw Error(
        fmt::format("shrink: {} is {}; only float32 weights can be compared", variable.name, to_string(value.type())));
  }

  Runtime& runtime_;
  const Model& model_;
  const std::map<std::string, double>& shares_;
  Indices kept_;         // of the channels that the next layer would get
  bool shrunk_ = false;  // whether those are fewer than they were
  std::vector<LayerPtr> layers_;
  std::vector<HostTensor> weights_;
};

}  // namespace

ModelPtr shrink(Runtime& runtime, VariableFactory& factory, const Model& model,
                const std::map<std::string, double>& shares) {
  runtime.synchronize();
  return Shrinking(runtime, model, shares).run(factory);
}

}  // namespace gpubench
