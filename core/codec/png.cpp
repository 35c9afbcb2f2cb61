#include "core/codec/png.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <fmt/format.h>
#include <png.h>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::array<std::uint8_t, 8> signature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

/// libpng leaves by longjmp, over C frames only: every call of it is made in guarded(), below which no object of ours
/// has a destructor.
class PngReader {
 public:
  explicit PngReader(std::span<const std::byte> bytes) : left_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &on_error, [](png_structp, png_const_charp) {});
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw OutOfMemory("libpng: no memory for a decoder");
    }
    png_set_read_fn(png_, this, &on_read);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  /// All samples become bytes. For one or three channels transparency is dropped and colours are RGB.
  void start(int channels) {
    guarded([&] { png_read_info(png_, info_); });
    expect_pixels("PNG", png_get_image_height(png_, info_), png_get_image_width(png_, info_));
    guarded([&] {
      png_set_expand(png_);
      png_set_scale_16(png_);
      if (channels != 0) png_set_strip_alpha(png_);
      const bool grey = (png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR) == 0;
      if (channels == 3 && grey) png_set_gray_to_rgb(png_);
      passes_ = png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
    size_ = {png_get_image_height(png_, info_), png_get_image_width(png_, info_), png_get_channels(png_, info_)};
  }

  const ImageSize& size() const { return size_; }
  bool interlaced() const { return passes_ > 1; }

  void read_row(std::uint8_t* row) {
    guarded([&] { png_read_row(png_, row, nullptr); });
    ++rows_;
  }
  /// An interlaced image comes in passes over all rows.
  std::vector<std::uint8_t> read_all() {
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(size_.height) * size_.row_bytes());
    for (int pass = 0; pass < passes_; ++pass) {
      for (std::int64_t y = 0; y < size_.height; ++y) {
        std::uint8_t* const row = pixels.data() + static_cast<std::size_t>(y) * size_.row_bytes();
        guarded([&] { png_read_row(png_, row, nullptr); });
      }
    }
    return pixels;
  }

 private:
  template <class Call>
  void guarded(const Call& call) {
    if (setjmp(png_jmpbuf(png_)) == 0) return call();
    if (size_.height == 0)
      throw Error(fmt::format("decode: PNG: {}", exhausted_ ? "truncated before the first row" : message_.data()));
    if (exhausted_) throw Error(fmt::format("decode: PNG: truncated after row {} of {}", rows_, size_.height));
    throw Error(fmt::format("decode: PNG: damaged after row {} of {}: {}", rows_, size_.height, message_.data()));
  }

  static void on_error(png_structp png, png_const_charp message) {
    auto& self = *static_cast<PngReader*>(png_get_error_ptr(png));
    std::strncpy(self.message_.data(), message, self.message_.size() - 1);
    png_longjmp(png, 1);
  }
  static void on_read(png_structp png, png_bytep to, std::size_t count) {
    auto& self = *static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > self.left_.size()) {
      self.exhausted_ = true;
      png_error(png, "truncated");
    }
    std::memcpy(to, self.left_.data(), count);
    self.left_ = self.left_.subspan(count);
  }

  std::span<const std::byte> left_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  ImageSize size_;
  int passes_ = 1;
  std::int64_t rows_ = 0;
  bool exhausted_ = false;
  std::array<char, 128> message_{};
};

/// RGB to JPEG's luminance, ITU-R BT.601, in 16 bits after the point.
void to_grey(std::span<const std::uint8_t> colours, std::uint8_t* to) {
  constexpr std::uint32_t red = 19595, green = 38470, blue = 7471, half = 32768;
  for (std::size_t i = 0; i < colours.size(); i += 3) {
    *to++ = static_cast<std::uint8_t>((red * colours[i] + green * colours[i + 1] + blue * colours[i + 2] + half) >> 16);
  }
}

}  // namespace

bool is_png(std::span<const std::byte> bytes) {
  return bytes.size() >= signature.size() && std::memcmp(bytes.data(), signature.data(), signature.size()) == 0;
}

void decode_png(std::span<const std::byte> bytes, int channels, RowSink& sink) {
  PngReader reader(bytes);
  reader.start(channels);
  const ImageSize& size = reader.size();
  const bool mixes = channels == 1 && size.channels == 3;
  sink.begin({size.height, size.width, mixes ? 1 : size.channels});
  const std::vector<std::uint8_t> all = reader.interlaced() ? reader.read_all() : std::vector<std::uint8_t>{};
  std::vector<std::uint8_t> colours(mixes ? size.row_bytes() : 0);
  for (std::int64_t y = 0; y < size.height; ++y) {
    std::uint8_t* const place = sink.place();
    std::uint8_t* const row = mixes ? colours.data() : place;
    if (all.empty()) {
      reader.read_row(row);
    } else {
      std::copy_n(all.data() + static_cast<std::size_t>(y) * size.row_bytes(), size.row_bytes(), row);
    }
    if (mixes) to_grey(colours, place);
    sink.done();
  }
}

}  // namespace gpubench
