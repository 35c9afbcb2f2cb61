// The interface between image decoders and their users: an image arrives row by row, in memory that the user provides.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace gpubench {

/// Size of an image, row-major [height, width, channels].
struct ImageSize {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  bool operator==(const ImageSize&) const = default;
  std::size_t row_bytes() const { return static_cast<std::size_t>(width * channels); }
};

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
