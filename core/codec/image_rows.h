// The interface between image decoders and their users: an image arrives row by row, in memory that the user provides.
#pragma once
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <span>

#include "core/base/error.h"

namespace gpubench {

/// Size of an image, row-major [height, width, channels].
struct ImageSize {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  bool operator==(const ImageSize&) const = default;
  std::size_t row_bytes() const { return static_cast<std::size_t>(width * channels); }
};

/// The most pixels that are decoded: a few bytes may unpack to as many as a header says.
inline constexpr std::int64_t most_pixels = std::int64_t{1} << 28;

/// Throws Error for an image of more pixels than that.
inline void expect_pixels(std::string_view format, std::int64_t height, std::int64_t width) {
  if (height <= most_pixels && width <= most_pixels && height * width <= most_pixels) return;
  throw Error(fmt::format("decode: {}: an image of {} x {} pixels; at most {} pixels are decoded", format, height,
                          width, most_pixels));
}

/// Receives the rows of an image from top to bottom; no decoder holds the whole image. The decoder writes each row into
/// the memory that place() returns.
class RowSink {
 public:
  virtual ~RowSink() = default;
  /// Called once, before the rows.
  virtual void begin(const ImageSize& size) = 0;
  /// Memory for the next row. After done(), the same memory may be returned again.
  virtual std::uint8_t* place() = 0;
  virtual void done() = 0;
};

}  // namespace gpubench
