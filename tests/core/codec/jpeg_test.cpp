
#include "core/codec/jpeg.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

class KeptRows final : public RowSink {
 public:
  void begin(const ImageSize& of) override {
    size = of;
    pixels.resize(static_cast<std::size_t>(of.height) * of.row_bytes());
  }
  std::uint8_t* place() override { return pixels.data() + rows_ * size.row_bytes(); }
  void done() override { ++rows_; }

  ImageSize size;
  std::vector<std::uint8_t> pixels;

 private:
  std::size_t rows_ = 0;
};

std::vector<std::uint8_t> gradient(std::int64_t height, std::int64_t width, std::int64_t channels) {
  std::vector<std::uint8_t> pixels;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width * channels; ++x)
      pixels.push_back(static_cast<std::uint8_t>(4 * y + x / channels));
  }
  return pixels;
}

int largest_difference(std::int64_t channels, int quality) {
  const std::vector<std::uint8_t> pixels = gradient(24, 40, channels);
  const std::vector<std::byte> file = encode_jpeg(pixels, 24, 40, channels, quality);
  KeptRows decoded;
  JpegDecoder().decode(
      file, 0, [](const ImageSize&) { return 1; }, decoded);
  EXPECT_EQ(decoded.size, (ImageSize{24, 40, channels}));
  int largest = 0;
  for (std::size_t i = 0; i < pixels.size(); ++i)
    largest = std::max(largest, std::abs(pixels[i] - decoded.pixels.at(i)));
  return largest;
}

TEST(EncodeJpeg, GivesWhatItsDecoderReads) {
  EXPECT_LE(largest_difference(1, 95), 4);
  EXPECT_LE(largest_difference(3, 95), 4);
  EXPECT_GT(largest_difference(1, 5), largest_difference(1, 95));
}

TEST(DecodeJpeg, RefusesImagesOfVeryManyPixels) {
  std::vector<std::byte> file = encode_jpeg(gradient(24, 40, 1), 24, 40, 1, 95);
  constexpr std::array start_of_frame{std::byte{0xff}, std::byte{0xc0}};
  const auto frame = std::ranges::search(file, start_of_frame).begin();
  std::fill_n(frame + 5, 4, std::byte{0x70});  // height and width, behind length and precision
  KeptRows decoded;
  EXPECT_ERROR("decode: JPEG: an image of 28784 x 28784 pixels; at most 268435456 pixels are decoded",
               JpegDecoder().decode(
                   file, 0, [](const ImageSize&) { return 1; }, decoded));
}

TEST(EncodeJpeg, RefusesWhatJpegDoesNotHave) {
  const std::vector<std::uint8_t> pixels(4);
  EXPECT_ERROR("encode_jpeg: 2 channels; 1 (grey) and 3 (RGB) are possible", encode_jpeg(pixels, 1, 2, 2, 90));
  EXPECT_ERROR("encode_jpeg: 0 x 2 pixels; 1 to 65500 a side are possible", encode_jpeg({}, 0, 2, 1, 90));
  EXPECT_ERROR("encode_jpeg: a quality of 101; 1 to 100 are possible", encode_jpeg(pixels, 2, 2, 1, 101));
}

}  // namespace
}  // namespace gpubench
