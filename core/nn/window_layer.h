// What layers that slide a window over [height, width, channels] share: reading the padding and counting the windows.
#pragma once
#include "core/nn/layer.h"
#include "core/ops/window.h"

namespace gpubench::nn {

class WindowLayer : public Layer {
 public:
  using Layer::Layer;

 protected:
  /// The option "padding".
  Padding window_padding() const;
  /// Windows along `axis` (0: height, 1: width) of one example.
  std::int64_t slide_window(const TensorType& input, std::size_t axis, const Extents& size, const Extents& strides,
                            Padding padding) const;
};

}  // namespace gpubench::nn
