// What layers share that slide a window over images [height, width, channels] or sequences [steps, channels]: reading
// their options, and counting windows. Sequences are computed as images of one row.
#pragma once
#include <string>
#include <string_view>

#include "core/nn/activation.h"
#include "core/nn/layer.h"
#include "core/ops/conv.h"
#include "core/ops/window.h"

namespace gpubench::nn {

/// "[steps, channels]" or "[height, width, channels]".
std::string_view sliding_form(int spatial);

/// An option from 1 to 2147483647, so that products of two do not overflow.
std::int64_t bounded_option(const Layer& layer, const std::string& name);
/// The option `name` of a layer with `spatial` dimensions, 1 or 2: for sequences its one number, behind a 1. Bounded in
/// the same way.
Extents sliding_extents(const Layer& layer, std::string_view name, int spatial);
/// The option "padding": "valid" or "same". Layers call it in constructors of final classes, because the error names
/// the layer.
Padding padding_of(const Layer& layer);

/// An example as an image [height, width, channels].
TensorType as_image(const TensorType& example, int spatial);
/// A batch of examples as images, and back.
Value as_images(Graph& graph, Value x, int spatial);
Value from_images(Graph& graph, Value x, int spatial);
/// [height, width, channels] as the shape of an example.
Shape example_shape(const Extents& extents, std::int64_t channels, int spatial);

/// Windows over one image. Throws Error naming the layer for windows that do not fit.
Extents count_windows(const Layer& layer, const TensorType& image, const Extents& size, const Conv2DAttributes& window);

/// A layer that slides its own filters, with bias and activation, but whose kernel is not [..., inputs, outputs].
class SlidingLayer : public Layer {
 public:
  /// The layer's own options, then strides, padding, dilation_rate, activation, use_bias and bias_initializer.
  static std::vector<ConfigField> fields(std::vector<ConfigField> own, int spatial = 2);
  SlidingLayer(Config config, DeviceId device, int spatial = 2);

 protected:
  const Extents& size() const { return size_; }
  const Conv2DAttributes& window() const { return window_; }
  /// Sets the padding; called by final classes.
  void set_padding(Padding padding) { window_.padding = padding; }
  /// Checks an option of this name and returns the initializer.
  Initializer initializer(const std::string& option) const { return parse_initializer(config().text(option)); }
  Dtype output_dtype() const;
  /// Call after the kernels were made.
  void make_bias(VariableFactory& factory, std::int64_t channels);
  Value finish(const CallContext& context, Value y) const;

 private:
  Extents size_;
  Conv2DAttributes window_;
  ActivationOption activation_;
  VariablePtr bias_;
};

}  // namespace gpubench::nn
