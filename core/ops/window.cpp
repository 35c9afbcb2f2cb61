#include "core/ops/window.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/enum_names.h"
#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr EnumNames<Padding, 2> paddings{"unknown padding", {"valid", "same"}};

}  // namespace

std::string_view to_string(Padding padding) {
  return paddings[padding];
}

Padding parse_padding(std::string_view name) {
  return paddings.parse(name);
}

std::string to_string(const Extents& extents) {
  return fmt::format("[{}, {}]", extents[0], extents[1]);
}

WindowAxis slide(std::string_view op, std::int64_t inputs, std::int64_t size, std::int64_t stride,
                 std::int64_t dilation, Padding padding) {
  const auto [least, most] = std::minmax({size, stride, dilation});
  if (least < 1 || most > INT32_MAX) {
    throw Error(fmt::format("{}: window size, strides and dilations must be 1 to {}, got {}, {} and {}", op, INT32_MAX,
                            size, stride, dilation));
  }
  const std::int64_t covered = (size - 1) * dilation + 1;
  if (padding == Padding::valid) {
    if (covered > inputs) {
      throw Error(
          fmt::format("{}: a window of {} does not fit into {} without padding; use padding \"same\" or a "
                      "smaller window",
                      op, covered, inputs));
    }
    return {(inputs - covered) / stride + 1, 0, 0};
  }
  WindowAxis axis;
  axis.outputs = (inputs + stride - 1) / stride;
  const std::int64_t total = std::max<std::int64_t>(0, (axis.outputs - 1) * stride + covered - inputs);
  axis.padding_before = total / 2;
  axis.padding_after = total - axis.padding_before;
  return axis;
}

}  // namespace gpubench
