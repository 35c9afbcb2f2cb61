// Pixels to JPEG files, for experiments that make their own images of real data.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gpubench {

/// `pixels` [height, width, channels] of 1 (grey) or 3 (RGB) channels; `quality` of 1 to 100, as libjpeg means it.
/// Throws Error for other numbers, OutOfMemory.
std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width,
                                   std::int64_t channels, int quality);

}  // namespace gpubench
