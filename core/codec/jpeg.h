// JPEG images by libjpeg-turbo, row by row into the caller's memory, scaled down while they are decoded where that is
// asked for: an eighth of the size costs a fraction of the time.
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

/// 1, 2, 4 or 8, by which an image of this size is to be divided.
using ChooseRatio = std::function<int(const ImageSize& full)>;

/// Keeps libjpeg's memory from image to image. Used by one thread at a time.
class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  /// `channels`: 1 (grey), 3 (RGB) or 0 (as the file has it). Throws Error for damaged data, with the number of rows
  /// that were complete; colours that are not YCbCr, RGB or grey are refused.
  void decode(std::span<const std::byte> bytes, int channels, const ChooseRatio& choose, RowSink& sink);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The bytes of a JPEG file, for experiments that make their own images of real data: `pixels` [height, width,
/// channels] of 1 (grey) or 3 (RGB) channels; `quality` of 1 to 100, as libjpeg means it. Throws Error for other
/// numbers, OutOfMemory.
std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width,
                                   std::int64_t channels, int quality);

}  // namespace gpubench
