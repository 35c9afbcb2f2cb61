// The interface between decoders of images and their users: an image arrives row by row, in memory of the user.
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

/// Takes the rows of an image from the top, without ever holding all of them. The decoder writes into the memory that
/// place() gives.
class RowSink {
 public:
  virtual ~RowSink() = default;
  /// Called once, before the rows.
  virtual void begin(const ImageSize& size) = 0;
  /// Where the next row goes; the memory of the row before may be given again once done() was called for it.
  virtual std::uint8_t* place() = 0;
  virtual void done() = 0;
};

}  // namespace gpubench
