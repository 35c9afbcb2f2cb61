#include "core/nn/window_layer.h"

#include <fmt/format.h>

namespace gpubench::nn {

Padding WindowLayer::window_padding() const {
  const std::string& padding = config().text("padding");
  if (padding != "same" && padding != "valid") {
    fail(fmt::format("padding must be 'same' or 'valid', got '{}'", padding));
  }
  return parse_padding(padding);
}

std::int64_t WindowLayer::slide_window(const TensorType& input, std::size_t axis, const Extents& size,
                                       const Extents& strides, Padding padding) const {
  if (padding == Padding::valid && size[axis] > input.shape[axis]) {
    fail(fmt::format("a window of {} does not fit into {}; use padding = 'same' or a smaller window", to_string(size),
                     to_string(input)));
  }
  return slide(kind(), input.shape[axis], size[axis], strides[axis], 1, padding).outputs;
}

}  // namespace gpubench::nn
