// Pooling of images [height, width, channels] and sequences [steps, channels]: the largest or the mean value of each
// window, or of the whole example. A sequence is an image of one row.
#include <numeric>

#include "core/nn/layer_kind.h"
#include "core/nn/masks.h"
#include "core/nn/sliding.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/pool.h"
#include "core/ops/reduce.h"

namespace gpubench::nn {
namespace {

enum class Pooled : std::uint8_t { largest, mean };

/// Strides are the window's size unless given.
template <int spatial, Pooled pooled>
class Pooling final : public Layer {
 public:
  static std::vector<ConfigField> fields() {
    return {{"pool_size", Shape(spatial, 2)}, {"strides", Shape{}}, {"padding", std::string("valid")}};
  }
  Pooling(Config given, DeviceId device) : Layer(std::move(given), std::move(device)) {
    options_.size = sliding_extents(*this, "pool_size", spatial);
    options_.strides = config().shape("strides").empty() ? options_.size : sliding_extents(*this, "strides", spatial);
    options_.padding = padding_of(*this);
  }
  std::string default_name() const override {
    return std::string(pooled == Pooled::largest ? "max" : "average") + (spatial == 1 ? "_pooling1d" : "_pooling2d");
  }
  TensorType output_type(TensorTypes inputs) const override {
    const TensorType& input = only_input(inputs, spatial + 1, sliding_form(spatial));
    const Extents counts = count_windows(*this, as_image(input, spatial), options_.size,
                                         {.strides = options_.strides, .padding = options_.padding});
    return {example_shape(counts, input.shape.back(), spatial), input.dtype};
  }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    const Value x = as_images(graph, inputs[0], spatial);
    const Value y =
        pooled == Pooled::largest ? ops::max_pool2d(graph, x, options_) : ops::average_pool2d(graph, x, options_);
    return from_images(graph, y, spatial);
  }

  Pool2DAttributes options_;
};

/// [height, width, channels] or [steps, channels] -> [channels].
template <int spatial, Pooled pooled>
class GlobalPooling final : public Layer {
 public:
  using Layer::Layer;
  static std::vector<ConfigField> fields() { return {{"keepdims", false}}; }
  std::string default_name() const override {
    return std::string(pooled == Pooled::largest ? "global_max" : "global_average") +
           (spatial == 1 ? "_pooling1d" : "_pooling2d");
  }
  MaskRule mask_rule() const override { return reads_masks() ? MaskRule::ends : MaskRule::drops; }
  bool reads_masks() const override { return spatial == 1 && pooled == Pooled::mean; }
  TensorType output_type(TensorTypes inputs) const override {
    const TensorType& input = only_input(inputs, spatial + 1, sliding_form(spatial));
    const std::int64_t channels = input.shape.back();
    return {config().flag("keepdims") ? example_shape({1, 1}, channels, spatial) : Shape{channels}, input.dtype};
  }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    std::vector<std::int64_t> axes(spatial);
    std::iota(axes.begin(), axes.end(), 1);
    const bool keep = config().flag("keepdims");
    if (pooled == Pooled::largest) return ops::reduce_max(context.graph, inputs[0], axes, keep);
    return ops::reduce_mean(context.graph, inputs[0], axes, keep);
  }
  /// The mean of the steps that are not masked.
  LayerOutputs apply_all(const CallContext& context, const LayerArguments& given) const override {
    Graph& graph = context.graph;
    const Value mask = given.mask(0), x = given.inputs[0];
    if (!reads_masks() || !mask) return Layer::apply_all(context, given);
    expect_mask(*this, graph, mask, x, 2);
    const bool keep = config().flag("keepdims");
    const Value counted = ops::cast(graph, mask_beside(graph, mask, x), graph.type(x).dtype);
    const Value sum = ops::reduce_sum(graph, kept_by(graph, mask, x), {1}, keep);
    return {{ops::div(graph, sum, ops::reduce_sum(graph, counted, {1}, keep))}, {}};
  }
};

template <class T>
LayerKind window_kind(const char* name) {
  return {name, {"pool_size", "strides", "padding"}, T::fields(), &construct_layer<T>};
}

template <class T>
LayerKind global_kind(const char* name) {
  return {name, {}, T::fields(), &construct_layer<T>};
}

}  // namespace

LayerKind average_pooling1d() {
  return window_kind<Pooling<1, Pooled::mean>>("AveragePooling1D");
}
LayerKind average_pooling2d() {
  return window_kind<Pooling<2, Pooled::mean>>("AveragePooling2D");
}
LayerKind max_pooling1d() {
  return window_kind<Pooling<1, Pooled::largest>>("MaxPooling1D");
}
LayerKind max_pooling2d() {
  return window_kind<Pooling<2, Pooled::largest>>("MaxPooling2D");
}
LayerKind global_average_pooling1d() {
  return global_kind<GlobalPooling<1, Pooled::mean>>("GlobalAveragePooling1D");
}
LayerKind global_average_pooling2d() {
  return global_kind<GlobalPooling<2, Pooled::mean>>("GlobalAveragePooling2D");
}
LayerKind global_max_pooling1d() {
  return global_kind<GlobalPooling<1, Pooled::largest>>("GlobalMaxPooling1D");
}
LayerKind global_max_pooling2d() {
  return global_kind<GlobalPooling<2, Pooled::largest>>("GlobalMaxPooling2D");
}

}  // namespace gpubench::nn
