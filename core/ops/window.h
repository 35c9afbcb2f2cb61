// How a window slides over an image: the arithmetic that convolutions and pools share, with Keras' meaning of "same".
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpubench {

/// valid: the window stays inside. same: outputs = ceil(inputs / stride), the odd padding row or column comes last.
enum class Padding : std::uint8_t { valid, same };

std::string_view to_string(Padding padding);
/// Throws Error listing the names.
Padding parse_padding(std::string_view name);

/// Height, then width.
using Extents = std::array<std::int64_t, 2>;

std::string to_string(const Extents& extents);

/// One direction of a sliding window.
struct WindowAxis {
  std::int64_t outputs = 0;
  std::int64_t padding_before = 0;
  std::int64_t padding_after = 0;
};

/// Throws Error("op: a window of 5 does not fit into 4 ...") when no output would be left, and for sizes, strides and
/// dilations below 1.
WindowAxis slide(std::string_view op, std::int64_t inputs, std::int64_t size, std::int64_t stride,
                 std::int64_t dilation, Padding padding);

}  // namespace gpubench
