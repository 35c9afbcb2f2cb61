// Images for the tests of decoders, compressed by the libraries themselves.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <jpeglib.h>
#include <png.h>
#include <string>
#include <vector>

namespace gpubench {

/// Pixels [height, width, channels].
struct TestImage {
  int height, width, channels;
  std::vector<std::uint8_t> pixels;
  std::uint8_t at(int y, int x, int c) const {
    return pixels[static_cast<std::size_t>((y * width + x) * channels + c)];
  }
};

/// Smooth waves, other ones in every channel.
inline TestImage waves(int height, int width, int channels) {
  TestImage image{height, width, channels, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        image.pixels.push_back(static_cast<std::uint8_t>(127.5 + 80 * std::sin(0.03 * (c + 1) * x + c) +
                                                         40 * std::cos(0.05 * (3 - c) * y)));
      }
    }
  }
  return image;
}

/// `adjust` may change what libjpeg is told.
inline std::string as_jpeg(const TestImage& image, int quality = 90, bool progressive = false,
                           const std::function<void(jpeg_compress_struct&)>& adjust = {}) {
  jpeg_compress_struct out{};
  jpeg_error_mgr errors{};
  out.err = jpeg_std_error(&errors);
  jpeg_create_compress(&out);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  jpeg_mem_dest(&out, &bytes, &size);
  out.image_height = static_cast<JDIMENSION>(image.height);
  out.image_width = static_cast<JDIMENSION>(image.width);
  out.input_components = image.channels;
  out.in_color_space = image.channels == 1   ? JCS_GRAYSCALE
                       : image.channels == 3 ? JCS_RGB
                       : image.channels == 4 ? JCS_CMYK
                                             : JCS_UNKNOWN;
  jpeg_set_defaults(&out);
  jpeg_set_quality(&out, quality, TRUE);
  if (progressive) jpeg_simple_progression(&out);
  if (adjust) adjust(out);
  jpeg_start_compress(&out, TRUE);
  for (int y = 0; y < image.height; ++y) {
    auto* row =
        const_cast<JSAMPROW>(image.pixels.data() + static_cast<std::ptrdiff_t>(y) * image.width * image.channels);
    jpeg_write_scanlines(&out, &row, 1);
  }
  jpeg_finish_compress(&out);
  std::string file(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&out);
  std::free(bytes);
  return file;
}

/// 1: grey, 2: grey and alpha, 3: RGB, 4: RGBA; 8 or 16 bits a sample.
inline std::string as_png(const TestImage& image, bool interlaced = false, int bits = 8) {
  constexpr int colours[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                             PNG_COLOR_TYPE_RGB_ALPHA};
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp to, png_bytep bytes, std::size_t count) {
        static_cast<std::string*>(png_get_io_ptr(to))->append(reinterpret_cast<char*>(bytes), count);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height), bits,
               colours[image.channels], interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  std::vector<std::uint8_t> samples;
  for (const std::uint8_t sample : image.pixels)
    samples.insert(samples.end(), static_cast<std::size_t>(bits / 8), sample);
  std::vector<png_bytep> rows;
  const int row_bytes = image.width * image.channels * bits / 8;
  for (int y = 0; y < image.height; ++y) rows.push_back(samples.data() + static_cast<std::ptrdiff_t>(y) * row_bytes);
  png_write_image(png, rows.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return file;
}

}  // namespace gpubench
