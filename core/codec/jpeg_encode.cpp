#include "core/codec/jpeg_encode.h"

#include <cassert>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

// Needs the above.
#include <jpeglib.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

/// libjpeg leaves by longjmp, over C frames only: nothing below encode() has a destructor.
class Encoder {
 public:
  Encoder() {
    image_.err = jpeg_std_error(&errors_);
    image_.client_data = this;
    errors_.error_exit = [](j_common_ptr common) {
      std::longjmp(static_cast<Encoder*>(common->client_data)->leave_, 1);
    };
    errors_.output_message = [](j_common_ptr) {};
  }
  ~Encoder() {
    jpeg_destroy_compress(&image_);
    std::free(bytes_);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  /// False when there is no memory.
  bool encode(const std::uint8_t* pixels, JDIMENSION height, JDIMENSION width, int channels, int quality) {
    if (setjmp(leave_) != 0) return false;
    jpeg_create_compress(&image_);
    jpeg_mem_dest(&image_, &bytes_, &size_);
    image_.image_height = height;
    image_.image_width = width;
    image_.input_components = channels;
    image_.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&image_);
    jpeg_set_quality(&image_, quality, TRUE);
    jpeg_start_compress(&image_, TRUE);
    const std::size_t row_bytes = std::size_t{width} * static_cast<std::size_t>(channels);
    while (image_.next_scanline < height) {
      auto* row = const_cast<JSAMPROW>(pixels + image_.next_scanline * row_bytes);  // libjpeg only reads it
      jpeg_write_scanlines(&image_, &row, 1);
    }
    jpeg_finish_compress(&image_);
    return true;
  }
  std::span<const std::byte> bytes() const { return {reinterpret_cast<const std::byte*>(bytes_), size_}; }

 private:
  jpeg_compress_struct image_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf leave_{};
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width,
                                   std::int64_t channels, int quality) {
  if (channels != 1 && channels != 3) {
    throw Error(fmt::format("encode_jpeg: {} channels; 1 (grey) and 3 (RGB) are possible", channels));
  }
  if (height < 1 || width < 1 || height > JPEG_MAX_DIMENSION || width > JPEG_MAX_DIMENSION) {
    throw Error(
        fmt::format("encode_jpeg: {} x {} pixels; 1 to {} a side are possible", height, width, JPEG_MAX_DIMENSION));
  }
  if (quality < 1 || quality > 100)
    throw Error(fmt::format("encode_jpeg: a quality of {}; 1 to 100 are possible", quality));
  assert(std::ssize(pixels) == height * width * channels);
  Encoder encoder;
  if (!encoder.encode(pixels.data(), static_cast<JDIMENSION>(height), static_cast<JDIMENSION>(width),
                      static_cast<int>(channels), quality)) {
    throw OutOfMemory("encode_jpeg: no memory for the file");
  }
  return {encoder.bytes().begin(), encoder.bytes().end()};
}

}  // namespace gpubench
