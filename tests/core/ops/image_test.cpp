#include "core/ops/image.h"

#include <cmath>
#include <gtest/gtest.h>
#include <memory>

#include "core/math/philox.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::image_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

constexpr std::uint64_t seed = 0x0123456789ABCDEF;
const CaseInput step{{{}, Dtype::i64}, 0, 1e9};
CaseInput steps(std::int64_t count) {
  return {{{count}, Dtype::i64}, 0, 1e9};
}

/// The draws of image `i` of all that share the steps `in[1]`; random_test.cpp holds philox itself against its paper.
std::uint32_t word_of(std::span<const Array> in, std::int64_t i, bool second = false) {
  const std::int64_t per_step = image_extents(in[0].type.shape).images / in[1].size();
  const auto number = static_cast<std::uint64_t>(in[1][i / per_step]) + static_cast<std::uint64_t>(i % per_step);
  return math::philox(seed, number, second ? std::uint64_t{1} << 63 : 0).word[0];
}
double uniform_of(std::span<const Array> in, std::int64_t i) {
  return (word_of(in, i) >> 8) * 0x1p-24;
}
std::int64_t height_of(const Array& images) {
  return image_extents(images.type.shape).height;
}
std::int64_t width_of(const Array& images) {
  return image_extents(images.type.shape).width;
}

double saturated(double x, Dtype dtype) {
  return dtype == Dtype::u8 ? std::min(std::max(std::floor(x + 0.5), 0.0), 255.0) : x;
}

/// Element [image, y, x, channel].
double at(const Array& images, std::int64_t image, std::int64_t y, std::int64_t x, std::int64_t c) {
  const ImageExtents extents = image_extents(images.type.shape);
  return images[((image * extents.height + y) * extents.width + x) * extents.channels + c];
}

/// Sets every pixel of the output to f(image, y, x, channel).
template <class F>
void for_each_pixel(Array& out, const F& f) {
  const ImageExtents extents = image_extents(out.type.shape);
  std::int64_t i = 0;
  for (std::int64_t image = 0; image < extents.images; ++image)
    for (std::int64_t y = 0; y < extents.height; ++y)
      for (std::int64_t x = 0; x < extents.width; ++x)
        for (std::int64_t c = 0; c < extents.channels; ++c) out[i++] = f(image, y, x, c);
}

CaseInput images(Shape shape, Dtype dtype = Dtype::f32) {
  return {.type = {std::move(shape), dtype},
          .low = dtype == Dtype::f32 ? -1.0 : 0.0,
          .high = dtype == Dtype::f32 ? 1.0 : 100.0};
}

OpCase image_case(std::string name, OpPtr op, std::vector<CaseInput> inputs,
                  std::function<void(std::span<const Array>, std::span<Array>)> reference, bool differentiable) {
  return {.name = std::move(name),
          .op = std::move(op),
          .inputs = std::move(inputs),
          .reference = std::move(reference),
          .differentiable = differentiable};
}

OpCase flip_case(std::string name, CaseInput input, CaseInput steps = step) {
  return image_case(
      std::move(name), std::make_shared<const RandomFlipLeftRight>(seed), {std::move(input), std::move(steps)},
      [](std::span<const Array> in, std::span<Array> out) {
        for_each_pixel(out[0], [&](auto image, auto y, auto x, auto c) {
          const bool flipped = uniform_of(in, image) < 0.5;
          return at(in[0], image, y, flipped ? width_of(in[0]) - 1 - x : x, c);
        });
      },
      true);
}

OpCase brightness_case(std::string name, CaseInput input, CaseInput steps = step) {
  return image_case(
      std::move(name), std::make_shared<const RandomBrightness>(0.4, seed), {std::move(input), std::move(steps)},
      [](std::span<const Array> in, std::span<Array> out) {
        const Dtype dtype = in[0].type.dtype;
        for_each_pixel(out[0], [&](auto image, auto y, auto x, auto c) {
          const double delta = (-0.4 + 0.8 * uniform_of(in, image)) * (dtype == Dtype::u8 ? 255 : 1);
          return saturated(at(in[0], image, y, x, c) + delta, dtype);
        });
      },
      true);
}

OpCase contrast_case(std::string name, CaseInput input, CaseInput steps = step) {
  return image_case(
      std::move(name), std::make_shared<const RandomContrast>(0.5, 1.5, seed), {std::move(input), std::move(steps)},
      [](std::span<const Array> in, std::span<Array> out) {
        const std::int64_t height = height_of(in[0]), width = width_of(in[0]);
        for_each_pixel(out[0], [&](auto image, auto y, auto x, auto c) {
          double mean = 0;
          for (std::int64_t row = 0; row < height; ++row)
            for (std::int64_t column = 0; column < width; ++column)
              mean += at(in[0], image, row, column, c) / static_cast<double>(height * width);
          const double factor = 0.5 + uniform_of(in, image);
          return saturated((at(in[0], image, y, x, c) - mean) * factor + mean, in[0].type.dtype);
        });
      },
      true);
}

OpCase crop_case(std::string name, CaseInput input, std::int64_t height, std::int64_t width, CaseInput steps = step) {
  return image_case(
      std::move(name), std::make_shared<const RandomCrop>(height, width, seed), {std::move(input), std::move(steps)},
      [height, width](std::span<const Array> in, std::span<Array> out) {
        for_each_pixel(out[0], [&](auto image, auto y, auto x, auto c) {
          const double tops = static_cast<double>(height_of(in[0]) - height + 1);
          const double lefts = static_cast<double>(width_of(in[0]) - width + 1);
          const auto top = static_cast<std::int64_t>(word_of(in, image) * 0x1p-32 * tops);
          const auto left = static_cast<std::int64_t>(word_of(in, image, true) * 0x1p-32 * lefts);
          return at(in[0], image, top + y, left + x, c);
        });
      },
      false);
}

double clamped(double place, std::int64_t extent) {
  return std::min(std::max(place, 0.0), static_cast<double>(extent - 1));
}

OpCase bilinear_case(std::string name, CaseInput input, std::int64_t height, std::int64_t width) {
  const auto op = std::make_shared<const ResizeImages>(height, width, ResizeMethod::bilinear);
  const bool floating = is_floating(input.type.dtype);
  return image_case(
      std::move(name), op, {std::move(input)},
      [](std::span<const Array> in, std::span<Array> out) {
        for_each_pixel(out[0], [&](auto image, auto y, auto x, auto c) {
          const auto source = [&](std::int64_t i, std::int64_t from, std::int64_t to) {
            const double scale = static_cast<double>(from) / static_cast<double>(to);
            return (static_cast<double>(i) + 0.5) * scale - 0.5;
          };
          const double row = source(y, height_of(in[0]), height_of(out[0]));
          const double column = source(x, width_of(in[0]), width_of(out[0]));
          double sum = 0;
          for (const int dy : {0, 1})
            for (const int dx : {0, 1}) {
              const double share_y = std::abs(1 - dy - (row - std::floor(row)));
              const double share_x = std::abs(1 - dx - (column - std::floor(column)));
              sum += share_y * share_x *
                     at(in[0], image, static_cast<std::int64_t>(clamped(std::floor(row) + dy, height_of(in[0]))),
                        static_cast<std::int64_t>(clamped(std::floor(column) + dx, width_of(in[0]))), c);
            }
          return sum;
        });
      },
      floating);
}

OpCase nearest_case(std::string name, CaseInput input, std::int64_t height, std::int64_t width) {
  const auto op = std::make_shared<const ResizeImages>(height, width, ResizeMethod::nearest);
  const bool floating = is_floating(input.type.dtype);
  return image_case(
      std::move(name), op, {std::move(input)},
      [](std::span<const Array> in, std::span<Array> out) {
        for_each_pixel(out[0], [&](auto image, auto y, auto x, auto c) {
          const auto source = [&](std::int64_t i, std::int64_t from, std::int64_t to) {
            return (2 * i + 1) * from / (2 * to);
          };
          return at(in[0], image, source(y, height_of(in[0]), height_of(out[0])),
                    source(x, width_of(in[0]), width_of(out[0])), c);
        });
      },
      floating);
}

std::vector<OpCase> image_cases() {
  return {
      flip_case("flip", images({9, 4, 5, 3})),
      flip_case("flip_bytes", images({70, 3, 7, 1}, Dtype::u8)),
      flip_case("flip_integers", images({5, 2, 4, 2}, Dtype::i64)),
      flip_case("flip_on_threads", images({5, 20, 150, 3})),
      brightness_case("brightness", images({9, 4, 5, 3})),
      brightness_case("brightness_bytes", images({20, 3, 7, 1}, Dtype::u8)),
      brightness_case("brightness_of_nothing", images({0, 4, 5, 3})),
      flip_case("flip_one_image", images({4, 5, 3})),
      flip_case("flip_by_steps", images({9, 4, 5, 3}), steps(9)),
      flip_case("flip_block_of_batches", images({3, 4, 2, 5, 1}, Dtype::u8), steps(3)),
      brightness_case("brightness_one_image", images({4, 5, 3})),
      brightness_case("brightness_block_of_batches", images({3, 4, 2, 5, 2}), steps(3)),
      contrast_case("contrast_one_image", images({4, 5, 3})),
      contrast_case("contrast_by_steps", images({4, 3, 7, 2}), steps(4)),
      crop_case("crop_one_image", images({8, 11, 3}), 5, 4),
      crop_case("crop_block_of_batches", images({2, 9, 8, 11, 3}), 5, 4, steps(2)),
      bilinear_case("bilinear_one_image", images({4, 5, 3}), 9, 13),
      bilinear_case("bilinear_block_of_batches", images({2, 2, 4, 5, 3}), 3, 13),
      nearest_case("nearest_one_image", images({4, 5, 3}), 9, 13),
      contrast_case("contrast", images({5, 4, 5, 3})),
      contrast_case("contrast_bytes", images({4, 3, 7, 2}, Dtype::u8)),
      contrast_case("contrast_of_many_pixels", images({2, 9, 31, 1})),
      crop_case("crop", images({9, 8, 11, 3}), 5, 4),
      crop_case("crop_nothing_off", images({3, 4, 5, 2}), 4, 5),
      crop_case("crop_integers", images({5, 6, 6, 2}, Dtype::i64), 3, 2),
      crop_case("crop_bytes", images({70, 6, 6, 1}, Dtype::u8), 3, 2),
      bilinear_case("bilinear_larger", images({2, 4, 5, 3}), 9, 13),
      bilinear_case("bilinear_smaller", images({2, 11, 9, 1}), 4, 3),
      bilinear_case("bilinear_bytes", images({2, 5, 5, 2}, Dtype::u8), 8, 3),
      nearest_case("nearest_larger", images({2, 4, 5, 3}), 9, 13),
      nearest_case("nearest_smaller", images({2, 11, 9, 1}), 4, 3),
      nearest_case("nearest_integers", images({2, 5, 5, 2}, Dtype::i64), 8, 3),
      nearest_case("nearest_bytes", images({2, 5, 5, 2}, Dtype::u8), 8, 3),
  };
}

GPUBENCH_OP_CASES(Image, image_cases);

TEST(ImageTest, RefusesWhatMakesNoSense) {
  Graph graph;
  const Value x = graph.input({{2, 4, 4, 3}, Dtype::f32}, "x"), flat = graph.input({{2, 4}, Dtype::f32}, "flat");
  const Value counts = graph.input({{2, 4, 4, 3}, Dtype::i32}, "counts"), n = graph.input({{}, Dtype::i64}, "step");
  const auto apply = [&](OpPtr op, Value images) { return graph.apply(std::move(op), {images, n}); };
  EXPECT_ERROR(
      "random_flip_left_right: takes images [batch, height, width, channels] or one "
      "[height, width, channels], got float32[2, 4]",
      apply(std::make_shared<const RandomFlipLeftRight>(1), flat));
  EXPECT_ERROR("random_flip_left_right: the step must be int64[], got float32[2, 4, 4, 3]",
               graph.apply(std::make_shared<const RandomFlipLeftRight>(1), {x, x}));
  EXPECT_ERROR(
      "random_flip_left_right: the step must be int64[], or one for each part of [2, 4, 4, 3], "
      "got int64[3]",
      graph.apply(std::make_shared<const RandomFlipLeftRight>(1), {x, graph.input({{3}, Dtype::i64}, "steps")}));
  EXPECT_ERROR("random_brightness: images are of a floating type or uint8, got int32[2, 4, 4, 3]",
               apply(std::make_shared<const RandomBrightness>(0.1, 1), counts));
  EXPECT_ERROR("random_brightness: max_delta must not be negative, got -1", RandomBrightness(-1, 1));
  EXPECT_ERROR("random_contrast: the factors must be 0 <= lower <= upper, got 2 and 1", RandomContrast(2, 1, 1));
  EXPECT_ERROR("random_crop: 5 x 4 does not fit into float32[2, 4, 4, 3]",
               apply(std::make_shared<const RandomCrop>(5, 4, 1), x));
  EXPECT_ERROR("random_crop: height and width must be at least 1, got 0 and 4",
               apply(std::make_shared<const RandomCrop>(0, 4, 1), x));
  EXPECT_ERROR(testing::HasSubstr("resize_images: there is no method 'hamming' (known: bilinear, nearest, bicubic"),
               parse_resize_method("hamming"));
}

TEST(ImageTest, AttributesSayEverythingThatDecidesTheResult) {
  EXPECT_NE(RandomFlipLeftRight(1).attributes(), RandomFlipLeftRight(2).attributes());
  EXPECT_NE(RandomCrop(2, 3, 1).attributes(), RandomCrop(3, 2, 1).attributes());
  EXPECT_NE(RandomContrast(0, 1, 1).attributes(), RandomContrast(0, 2, 1).attributes());
  EXPECT_NE(ResizeImages(2, 2, ResizeMethod::nearest).attributes(),
            ResizeImages(2, 2, ResizeMethod::bilinear).attributes());
}

}  // namespace
}  // namespace gpubench::image_test
