// Layers that compute nothing: Input, where a model's data enters, and layers that only change the shape of an example.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/layer_kind.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

/// A declared shape and element type of one example.
class Input final : public Layer {
 public:
  Input(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)), type_{config().shape("shape"), policy().variable} {
    if (std::ranges::any_of(type_.shape, [](std::int64_t size) { return size < 1; })) {
      fail(fmt::format("shape must list positive sizes of one example (without the batch), got {}",
                       to_string(type_.shape)));
    }
    config().integer_from("batch_size", 0);
    if (!config().text("activity_regularizer").empty()) fail("has no activity that could be regularized");
  }
  std::string default_name() const override { return "input"; }
  const TensorType* declared_input() const override { return &type_; }
  std::int64_t declared_rows() const override { return config().integer("batch_size"); }
  TensorType output_type(TensorTypes inputs) const override {
    if (!inputs.empty()) fail(takes_none);
    return type_;
  }

 private:
  static constexpr const char* takes_none = "takes no input; it stands at the start of a model";
  Value apply(const CallContext&, Values) const override { fail(takes_none); }
  TensorType type_;
};

/// Passes its input on: a place with a name.
class Identity final : public Layer {
 public:
  using Layer::Layer;
  std::string default_name() const override { return "identity"; }
  MaskRule mask_rule() const override { return MaskRule::passes; }
  TensorType output_type(TensorTypes inputs) const override {
    if (inputs.size() != 1) fail(fmt::format("takes one input, got {}", inputs.size()));
    return inputs[0];
  }

 private:
  Value apply(const CallContext&, Values inputs) const override { return inputs[0]; }
};

/// [a, b, ...] -> [a * b * ...].
class Flatten final : public Layer {
 public:
  using Layer::Layer;
  std::string default_name() const override { return "flatten"; }
  Channels channels() const override { return Channels::flattened; }
  TensorType output_type(TensorTypes inputs) const override {
    if (inputs.size() != 1) fail(fmt::format("takes one input, got {}", inputs.size()));
    return {{inputs[0].elements()}, inputs[0].dtype};
  }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    const Shape& shape = context.graph.type(inputs[0]).shape;
    if (shape.size() == 2) return inputs[0];
    return ops::reshape(context.graph, inputs[0], {shape[0], element_count(std::span(shape).subspan(1))});
  }
};

/// To target_shape, in which one size may be -1.
class Reshape final : public Layer {
 public:
  Reshape(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)), target_(config().shape("target_shape")) {
    const auto bad = [](std::int64_t size) { return size < 1 && size != -1; };
    if (std::ranges::any_of(target_, bad) || std::ranges::count(target_, -1) > 1) {
      fail(fmt::format("target_shape must list positive sizes of one example and at most one -1, got {}",
                       to_string(target_)));
    }
  }
  std::string default_name() const override { return "reshape"; }
  Channels channels() const override { return Channels::mixed; }
  TensorType output_type(TensorTypes inputs) const override {
    if (inputs.size() != 1) fail(fmt::format("takes one input, got {}", inputs.size()));
    TensorType result{target_, inputs[0].dtype};
    const auto open = std::ranges::find(result.shape, -1);
    if (open != result.shape.end()) *open = 1;
    check_size(result, name());
    const std::int64_t elements = inputs[0].elements(), known = result.elements();
    if (open != result.shape.end() && elements % known == 0) *open = elements / known;
    if (result.elements() != elements) {
      fail(fmt::format("cannot turn {} ({} elements) into {}", to_string(inputs[0]), elements, to_string(target_)));
    }
    return result;
  }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    const TensorType& type = context.graph.type(inputs[0]);
    const TensorType example{Shape(type.shape.begin() + 1, type.shape.end()), type.dtype};
    Shape shape = output_type(std::span(&example, 1)).shape;
    shape.insert(shape.begin(), type.shape[0]);
    return ops::reshape(context.graph, inputs[0], shape);
  }

  Shape target_;
};

/// Reorders the dimensions of an example: dims {2, 1} swaps the two.
class Permute final : public Layer {
 public:
  Permute(Config given, DeviceId device) : Layer(std::move(given), std::move(device)), order_(config().shape("dims")) {
    Shape sorted = order_;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (sorted[i] == static_cast<std::int64_t>(i) + 1) continue;
      throw Error(fmt::format("Permute: dims must list each dimension of an example once, numbered from 1, got {}",
                              to_string(order_)));
    }
  }
  std::string default_name() const override { return "permute"; }
  Channels channels() const override { return Channels::mixed; }
  TensorType output_type(TensorTypes inputs) const override {
    if (inputs.size() != 1) fail(fmt::format("takes one input, got {}", inputs.size()));
    if (inputs[0].shape.size() != order_.size()) {
      fail(fmt::format("dims {} order {} dimensions, got {}", to_string(order_), order_.size(), to_string(inputs[0])));
    }
    TensorType result{{}, inputs[0].dtype};
    for (const std::int64_t from : order_) result.shape.push_back(inputs[0].shape[static_cast<std::size_t>(from - 1)]);
    return result;
  }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    std::vector<std::int64_t> order{0};
    order.insert(order.end(), order_.begin(), order_.end());
    return ops::transpose(context.graph, inputs[0], std::move(order));
  }

  Shape order_;
};

/// [features] -> [n, features].
class RepeatVector final : public Layer {
 public:
  RepeatVector(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)), count_(config().integer_from("n", 1)) {}
  std::string default_name() const override { return "repeat_vector"; }
  TensorType output_type(TensorTypes inputs) const override {
    const TensorType& input = only_input(inputs, 1, "[features]");
    return {{count_, input.shape[0]}, input.dtype};
  }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    const Shape& shape = graph.type(inputs[0]).shape;
    const Shape repeated{shape[0], count_, shape[1]};
    return ops::broadcast_to(graph, ops::reshape(graph, inputs[0], {shape[0], 1, shape[1]}), repeated);
  }

  std::int64_t count_;
};

}  // namespace

LayerKind input() {
  return {"Input", {"shape"}, {{"shape", Shape{}, true}, {"batch_size", std::int64_t{0}}}, &construct_layer<Input>};
}
LayerKind identity() {
  return {"Identity", {}, {}, &construct_layer<Identity>};
}
LayerKind flatten() {
  return {"Flatten", {}, {}, &construct_layer<Flatten>};
}
LayerKind reshape() {
  return {"Reshape", {"target_shape"}, {{"target_shape", Shape{}, true}}, &construct_layer<Reshape>};
}

LayerKind permute() {
  return {"Permute", {"dims"}, {{"dims", Shape{}, true}}, &construct_layer<Permute>};
}
LayerKind repeat_vector() {
  return {"RepeatVector", {"n"}, {{"n", std::int64_t{0}, true}}, &construct_layer<RepeatVector>};
}

}  // namespace gpubench::nn
