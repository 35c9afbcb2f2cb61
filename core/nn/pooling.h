// Pooling of [height, width, channels] images: the largest or the mean value of each window, or of the whole image.
#pragma once
#include "core/nn/layer_kind.h"
#include "core/nn/window_layer.h"
#include "core/ops/pool.h"

namespace gpubench::nn {

/// What MaxPooling2D and AveragePooling2D share: window, strides (the window's size unless given) and padding.
class WindowPooling : public WindowLayer {
 public:
  WindowPooling(Config config, DeviceId device);
  TensorType output_type(std::span<const TensorType> inputs) const override;

 protected:
  static std::vector<ConfigField> fields();
  Pool2DAttributes options_;
};

class MaxPooling2D final : public WindowPooling {
 public:
  static LayerKind layer_kind();
  using WindowPooling::WindowPooling;
  std::string default_name() const override { return "max_pooling2d"; }

 private:
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;
};

class AveragePooling2D final : public WindowPooling {
 public:
  static LayerKind layer_kind();
  using WindowPooling::WindowPooling;
  std::string default_name() const override { return "average_pooling2d"; }

 private:
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;
};

/// [height, width, channels] -> [channels].
class GlobalAveragePooling2D final : public Layer {
 public:
  static LayerKind layer_kind();
  using Layer::Layer;
  std::string default_name() const override { return "global_average_pooling2d"; }
  TensorType output_type(std::span<const TensorType> inputs) const override;

 private:
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;
};

}  // namespace gpubench::nn
