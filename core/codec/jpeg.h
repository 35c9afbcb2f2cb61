// JPEG decoding by libjpeg-turbo, row by row into the caller's memory, with optional downscaling during decoding: an
// eighth of the size takes a fraction of the time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/codec/image_rows.h"

namespace gpubench {

bool is_jpeg(std::span<const std::byte> bytes);

/// Returns 1, 2, 4 or 8: the divisor for an image of this size.
using ChooseRatio = std::function<int(const ImageSize& full)>;

/// Keeps libjpeg's memory from image to image. Not thread-safe.
class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  /// `channels`: 1 (grey), 3 (RGB) or 0 (as in the file). Throws Error for damaged data, with the number of complete
  /// rows, and for colour spaces other than YCbCr, RGB and grey.
  void decode(std::span<const std::byte> bytes, int channels, const ChooseRatio& choose, RowSink& sink);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Encodes a JPEG file, for experiments that make their own images from real data: `pixels` [height, width, channels]
/// with 1 (grey) or 3 (RGB) channels; `quality` from 1 to 100, as in libjpeg. Throws Error for other values,
/// OutOfMemory.
std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width,
                                   std::int64_t channels, int quality);

}  // namespace gpubench
