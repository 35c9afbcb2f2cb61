#include "core/data/function/decode_image.h"

#include <gmock/gmock.h>
#include <random>

#include "core/base/error.h"
#include "core/data/element/block_pool.h"
#include "core/data/source/record_files.h"
#include "tests/core/data/images.h"
#include "tests/core/data/texts.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::HasSubstr;

/// Keeps one decoder for all of a test's images.
class Decoder {
 public:
  explicit Decoder(const DecodeOptions& options = {}) : runner_(decode_image(options)->plan({})) {}

  Element decode(const std::string& file) {
    HostTensor bytes = byte_string(file);
    HostTensor label = HostTensor::scalar(std::int64_t{7});
    const std::vector<TensorView> inputs{bytes.view(), label.view()};
    Element element;
    PooledElement place(pool_, element);
    runner_->run({.inputs = inputs}, place);
    return element;
  }
  HostTensor image(const std::string& file) { return decode(file)[0]; }

 private:
  BlockPool pool_;
  std::unique_ptr<ElementRunner> runner_;
};

HostTensor decoded(const std::string& file, const DecodeOptions& options = {}) {
  return Decoder(options).image(file);
}

TestImage as_image(const HostTensor& tensor) {
  const auto pixels = tensor.values<std::uint8_t>();
  return {static_cast<int>(tensor.shape()[0]),
          static_cast<int>(tensor.shape()[1]),
          static_cast<int>(tensor.shape()[2]),
          {pixels.begin(), pixels.end()}};
}

/// Half-pixel centres, two pixels mixed along each dimension, in double precision.
std::vector<double> resized(const TestImage& image, int height, int width) {
  const auto mix = [](int i, int to, int from, auto&& value) {
    const double at = std::clamp((i + 0.5) * from / to - 0.5, 0.0, from - 1.0);
    const int lower = static_cast<int>(at);
    return value(lower) * (1 - (at - lower)) + value(std::min(lower + 1, from - 1)) * (at - lower);
  };
  std::vector<double> pixels;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < image.channels; ++c) {
        pixels.push_back(mix(y, height, image.height, [&](int row) {
          return mix(x, width, image.width, [&](int column) { return double{1} * image.at(row, column, c); });
        }));
      }
    }
  }
  return pixels;
}

double psnr(std::span<const double> wanted, std::span<const std::uint8_t> pixels) {
  double sum = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) sum += std::pow(wanted[i] - pixels[i], 2);
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(wanted.size()) / sum);
}

TEST(DecodeImage, ReadsPngExactly) {
  for (const int channels : {1, 2, 3, 4}) {
    for (const bool interlaced : {false, true}) {
      const TestImage image = waves(13, 17, channels);
      const HostTensor pixels = decoded(as_png(image, interlaced));
      EXPECT_EQ(to_string(pixels.type()), "uint8[13, 17, " + std::to_string(channels) + "]");
      EXPECT_EQ(as_image(pixels).pixels, image.pixels);
    }
  }
  EXPECT_EQ(as_image(decoded(as_png(waves(5, 4, 3), false, 16))).pixels, waves(5, 4, 3).pixels);
}

TEST(DecodeImage, ReadsJpegClosely) {
  for (const int channels : {1, 3}) {
    for (const bool progressive : {false, true}) {
      const TestImage image = waves(50, 70, channels);
      const HostTensor pixels = decoded(as_jpeg(image, 95, progressive));
      EXPECT_EQ(to_string(pixels.type()), "uint8[50, 70, " + std::to_string(channels) + "]");
      EXPECT_GT(psnr(std::vector<double>(image.pixels.begin(), image.pixels.end()), pixels.values<std::uint8_t>()), 35);
    }
  }
}

/// What is printed with these inks, of which 255 is all.
std::vector<double> printed(const TestImage& inks, bool inverted) {
  std::vector<double> colours;
  for (int y = 0; y < inks.height; ++y) {
    for (int x = 0; x < inks.width; ++x) {
      const auto light = [&](int ink) { return inverted ? inks.at(y, x, ink) : 255.0 - inks.at(y, x, ink); };
      for (int c = 0; c < 3; ++c) colours.push_back(light(c) * light(3) / 255);
    }
  }
  return colours;
}

TEST(DecodeImage, MakesColoursOfInks) {
  const TestImage inks = waves(40, 50, 4);
  for (const J_COLOR_SPACE space : {JCS_CMYK, JCS_YCCK}) {
    const std::string file = as_jpeg(inks, 95, false, [&](auto& out) { jpeg_set_colorspace(&out, space); });
    const HostTensor pixels = decoded(file);
    EXPECT_EQ(to_string(pixels.type()), "uint8[40, 50, 3]");
    EXPECT_GT(psnr(printed(inks, true), pixels.values<std::uint8_t>()), 35);
    EXPECT_EQ(decoded(file, {.channels = 3, .size = {{8, 8}}}).shape(), (Shape{8, 8, 3}));
  }
  const std::string plain = as_jpeg(inks, 95, false, [](auto& out) { out.write_Adobe_marker = FALSE; });
  EXPECT_GT(psnr(printed(inks, false), decoded(plain).values<std::uint8_t>()), 35);
}

TEST(DecodeImage, MakesGreyOfInks) {
  const TestImage red{8, 8, 4, [] {
                        std::vector<std::uint8_t> pixels;
                        for (int i = 0; i < 64; ++i) pixels.insert(pixels.end(), {255, 0, 0, 255});
                        return pixels;
                      }()};
  const HostTensor grey = decoded(as_jpeg(red, 100), {.channels = 1});
  EXPECT_EQ(to_string(grey.type()), "uint8[8, 8, 1]");
  EXPECT_THAT(grey.values<std::uint8_t>(), testing::Each(76));
  EXPECT_THROW(decoded(as_jpeg(waves(40, 40, 4)).substr(0, 900)), Error);
}

TEST(DecodeImage, GivesAsManyChannelsAsAreAskedFor) {
  const TestImage grey{1, 2, 1, {10, 200}};
  EXPECT_THAT(decoded(as_png(grey), {.channels = 3}).values<std::uint8_t>(),
              testing::ElementsAre(10, 10, 10, 200, 200, 200));
  const TestImage colour{1, 2, 4, {255, 0, 0, 9, 0, 0, 255, 9}};
  EXPECT_THAT(decoded(as_png(colour), {.channels = 3}).values<std::uint8_t>(),
              testing::ElementsAre(255, 0, 0, 0, 0, 255));
  EXPECT_THAT(decoded(as_png(colour), {.channels = 1}).values<std::uint8_t>(), testing::ElementsAre(76, 29));
  EXPECT_THAT(decoded(as_png(colour, true), {.channels = 1}).values<std::uint8_t>(), testing::ElementsAre(76, 29));
  EXPECT_EQ(decoded(as_jpeg(waves(8, 8, 3)), {.channels = 1}).shape()[2], 1);
  EXPECT_EQ(decoded(as_jpeg(waves(8, 8, 1)), {.channels = 3}).shape()[2], 3);
}

TEST(DecodeImage, ResizesAsTheReference) {
  Decoder decoder({.size = {{60, 45}}});
  for (const auto& [height, width] : {std::pair{97, 83}, std::pair{60, 45}, std::pair{31, 200}, std::pair{1, 1}}) {
    for (const int channels : {1, 3}) {
      const TestImage image = waves(height, width, channels);
      const HostTensor pixels = decoder.image(as_png(image));
      EXPECT_EQ(to_string(pixels.type()), "uint8[60, 45, " + std::to_string(channels) + "]");
      EXPECT_GE(psnr(resized(image, 60, 45), pixels.values<std::uint8_t>()), 50) << height << " x " << width;
    }
  }
}

// At full size, and at the half that the discrete cosine transform gives, of which 600 x 500 leaves enough for 224.
TEST(DecodeImage, ResizesJpegsAsTheReference) {
  const std::string file = as_jpeg(waves(600, 500, 3));
  for (const int ratio : {1, 2}) {
    const TestImage whole = as_image(decoded(file, {.ratio = ratio}));
    EXPECT_EQ(whole.height, 600 / ratio);
    const HostTensor pixels = decoded(file, {.size = {{224, 224}}, .ratio = ratio});
    EXPECT_GE(psnr(resized(whole, 224, 224), pixels.values<std::uint8_t>()), 50);
  }
  EXPECT_EQ(as_image(decoded(file, {.size = {{224, 224}}})).pixels,
            as_image(decoded(file, {.size = {{224, 224}}, .ratio = 2})).pixels);
  EXPECT_EQ(as_image(decoded(file, {.size = {{75, 62}}})).pixels,
            as_image(decoded(file, {.size = {{75, 62}}, .ratio = 8})).pixels);
  EXPECT_EQ(as_image(decoded(file, {.size = {{301, 10}}})).pixels,
            as_image(decoded(file, {.size = {{301, 10}}, .ratio = 1})).pixels);
}

TEST(DecodeImage, TakesTheNearestPixels) {
  const TestImage image{2, 2, 1, {1, 2, 3, 4}};
  EXPECT_THAT(decoded(as_png(image), {.size = {{2, 4}}, .filter = ResizeFilter::nearest}).values<std::uint8_t>(),
              testing::ElementsAre(1, 1, 2, 2, 3, 3, 4, 4));
}

TEST(DecodeImage, GivesFloatsUpToOne) {
  const TestImage image{1, 2, 1, {0, 255}};
  EXPECT_THAT(decoded(as_png(image), {.dtype = Dtype::f32}).values<float>(), testing::ElementsAre(0, 1));
  EXPECT_THAT(decoded(as_png(image), {.size = {{1, 4}}, .dtype = Dtype::f32}).values<float>(),
              testing::Pointwise(testing::FloatNear(1e-6F), {0.0F, 0.25F, 0.75F, 1.0F}));
}

TEST(DecodeImage, PassesOtherTensorsThrough) {
  EXPECT_EQ(Decoder().decode(as_png(waves(2, 2, 1)))[1].values<std::int64_t>()[0], 7);
  const std::vector<TensorType> file{{{varying}, Dtype::u8}, {{}, Dtype::i64}};
  EXPECT_EQ(to_string(decode_image({})->output_types(file)), "(uint8[?, ?, ?], int64[])");
  EXPECT_EQ(to_string(decode_image({.channels = 3, .size = {{4, 5}}, .dtype = Dtype::f32})->output_types(file)),
            "(float32[4, 5, 3], int64[])");
}

TEST(DecodeImage, SaysWhereAnImageIsTruncated) {
  Decoder decoder;
  const std::string jpeg = as_jpeg(waves(300, 300, 3));
  EXPECT_ERROR(testing::MatchesRegex("decode: JPEG: truncated after row [1-9][0-9]+ of 300"),
               decoder.image(jpeg.substr(0, jpeg.size() / 2)));
  EXPECT_ERROR("decode: JPEG: truncated before the first row", decoder.image(jpeg.substr(0, 30)));
  const std::string progressive = as_jpeg(waves(80, 80, 3), 90, true);
  EXPECT_ERROR("decode: JPEG: truncated after row 0 of 80",
               decoder.image(progressive.substr(0, progressive.size() - 50)));
  const std::string png = as_png(waves(80, 80, 3));
  EXPECT_ERROR(testing::MatchesRegex("decode: PNG: truncated after row [0-9]+ of 80"),
               decoder.image(png.substr(0, png.size() / 2)));
  EXPECT_ERROR("decode: PNG: truncated before the first row", decoder.image(png.substr(0, 20)));
  EXPECT_EQ(as_image(decoder.image(jpeg.substr(0, jpeg.size() - 2))).pixels, as_image(decoder.image(jpeg)).pixels);
}

TEST(DecodeImage, SaysWhatIsNoImage) {
  Decoder decoder;
  EXPECT_ERROR("decode: 4 bytes that are neither a JPEG nor a PNG image", decoder.image("text"));
  EXPECT_ERROR(HasSubstr("decode: 0 bytes"), decoder.image(""));
  EXPECT_ERROR(
      "decode: JPEG: an image of 2 colour components is not supported (grey, YCbCr, RGB, CMYK and "
      "YCCK are)",
      decoder.image(as_jpeg(waves(8, 8, 2))));
  EXPECT_ERROR("decode: a ratio is for JPEG images, and this is a PNG; a size is for both",
               decoded(as_png(waves(8, 8, 1)), {.ratio = 2}));
}

TEST(DecodeImage, SurvivesAnyDamage) {
  Decoder decoder({.channels = 3, .size = {{16, 16}}});
  std::mt19937 random(1);
  for (const std::string& valid : {as_jpeg(waves(40, 40, 3)), as_jpeg(waves(40, 40, 3), 90, true),
                                   as_jpeg(waves(40, 40, 4)), as_png(waves(40, 40, 3))}) {
    const std::vector<std::uint8_t> pixels = as_image(decoder.image(valid)).pixels;
    for (int i = 0; i < 600; ++i) {
      std::string bytes = i % 4 == 0 ? valid.substr(0, random() % valid.size()) : valid;
      for (int count = 0; i % 4 != 0 && count <= i % 3; ++count)
        bytes[random() % bytes.size()] = static_cast<char>(random());
      try {
        decoder.image(bytes);
      } catch (const Error& error) {
        ASSERT_THAT(error.what(), testing::StartsWith("decode: "));
      }
    }
    EXPECT_EQ(as_image(decoder.image(valid)).pixels, pixels);
  }
}

TEST(DecodeImage, RefusesSizesThatNoMemoryHolds) {
  const auto message = [](const DecodeOptions& options, const std::string& text) {
    EXPECT_ERROR(testing::StartsWith("decode: " + text), decode_image(options));
  };
  constexpr std::int64_t wide = 1'000'000'000;
  message({.size = {{wide, wide}}}, "an image of 1000000000 x 1000000000 needs 2665 PiB, more than the free memory, ");
  message({.size = {{INT64_MAX, 1}}}, "an image of 9223372036854775807 x 1 needs ");
  decode_image({.size = {{4096, 4096}}});
}

TEST(DecodeImage, ChecksItsOptions) {
  const auto message = [](const DecodeOptions& options, const std::string& text) {
    EXPECT_ERROR("decode: " + text, decode_image(options));
  };
  message({.channels = 2}, "channels = 2 cannot be; 1 is grey, 3 is RGB, 0 is as the file has them");
  message({.size = {{0, 4}}}, "a size of 0 x 4; at least 1 x 1 is needed");
  message({.dtype = Dtype::i64}, "images of int64 cannot be (known: uint8, float32)");
  message({.ratio = 3}, "a ratio of 3 cannot be (known: 1, 2, 4, 8)");
}

}  // namespace
}  // namespace gpubench
