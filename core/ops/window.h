// Geometry of a window that slides over an image, for convolutions and pools; "same" as in Keras.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpubench {

/// valid: the window stays inside. same: outputs = ceil(inputs / stride); an odd row or column of padding comes last.
enum class Padding : std::uint8_t { valid, same };

std::string_view to_string(Padding padding);
/// Throws Error listing the names.
Padding parse_padding(std::string_view name);

/// Height, then width.
using Extents = std::array<std::int64_t, 2>;

std::string to_string(const Extents& extents);

/// One dimension of a sliding window.
struct WindowAxis {
  std::int64_t outputs = 0;
  std::int64_t padding_before = 0;
  std::int64_t padding_after = 0;
};

/// Throws Error("op: a window of 5 does not fit into 4 ...") if there is no output, and for sizes, strides and
/// dilations below 1.
WindowAxis slide(std::string_view op, std::int64_t inputs, std::int64_t size, std::int64_t stride,
                 std::int64_t dilation, Padding padding);

}  // namespace gpubench
