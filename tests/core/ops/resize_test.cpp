#include "core/ops/resize.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "core/backend/cpu/cpu_backend.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect_error.h"

namespace gpubench::resize_test {
namespace {

using testing::FloatNear;
using testing::Pointwise;

constexpr std::array methods{ResizeMethod::bilinear, ResizeMethod::nearest,      ResizeMethod::bicubic,
                             ResizeMethod::area,     ResizeMethod::lanczos3,     ResizeMethod::lanczos5,
                             ResizeMethod::gaussian, ResizeMethod::mitchellcubic};

HostTensor resized(const HostTensor& images, std::int64_t height, std::int64_t width, ResizeMethod method,
                   bool antialias = false) {
  const std::array options{CpuDeviceOptions{}};
  const CpuBackend cpu(options);
  Graph graph;
  const Value input = graph.input(images.type(), "images");
  const Value output = ops::resize_images(graph, input, height, width, method, antialias);
  return support::evaluate(cpu, *cpu.devices()[0], graph, std::array{images}, std::array{output})[0];
}

std::vector<float> row_of(const std::vector<float>& pixels, std::int64_t to, ResizeMethod method,
                          bool antialias = false) {
  const HostTensor out =
      resized(HostTensor::of<float>({1, std::ssize(pixels), 1}, std::span(pixels)), 1, to, method, antialias);
  return {out.values<float>().begin(), out.values<float>().end()};
}

TEST(Resize, AnImageOfOneColourKeepsIt) {
  HostTensor grey(TensorType{{2, 7, 5, 3}, Dtype::f32});
  for (float& pixel : grey.values<float>()) pixel = 0.75F;
  for (const ResizeMethod method : methods) {
    for (const bool antialias : {false, true}) {
      for (const auto& [height, width] : {std::pair{3, 11}, std::pair{13, 2}, std::pair{1, 1}}) {
        const HostTensor out = resized(grey, height, width, method, antialias);
        ASSERT_EQ(out.shape(), (Shape{2, height, width, 3}));
        for (const float pixel : out.values<float>()) ASSERT_NEAR(pixel, 0.75F, 1e-5F) << to_string(method);
      }
    }
  }
}

TEST(Resize, RowsHaveTheSharesOfTheirFilters) {
  EXPECT_THAT(row_of({0, 0, 1, 1}, 2, ResizeMethod::area), Pointwise(FloatNear(1e-6F), {0.0F, 1.0F}));
  EXPECT_THAT(row_of({1, 2, 3}, 2, ResizeMethod::area), Pointwise(FloatNear(1e-6F), {4.0F / 3, 8.0F / 3}));
  // Keys' weights at distances of 5/4, 1/4, 3/4 and 7/4 are -0.0703125, 0.8671875, 0.2265625 and -0.0234375.
  const std::vector<float> doubled = row_of({0, 0, 0, 1, 1, 1}, 12, ResizeMethod::bicubic);
  EXPECT_NEAR(doubled[5], 0.2265625F - 0.0234375F, 1e-6F);
  EXPECT_NEAR(doubled[5] + doubled[6], 1, 1e-6F);
  // A filter that is widened reaches over all four pixels.
  const std::vector<float> one = row_of({0, 0, 1, 0}, 1, ResizeMethod::bilinear, true);
  EXPECT_NEAR(one[0], 0.875F / (2 * 0.875F + 2 * 0.625F), 1e-6F);
  EXPECT_NEAR(row_of({0, 0, 1, 0}, 1, ResizeMethod::bilinear)[0], 0.5F, 1e-6F);
}

TEST(Resize, ImagesMayBeBytesAndComeAlone) {
  HostTensor bytes(TensorType{{2, 2, 1}, Dtype::u8});
  for (std::uint8_t& pixel : bytes.values<std::uint8_t>()) pixel = 200;
  const HostTensor out = resized(bytes, 5, 3, ResizeMethod::lanczos3);
  ASSERT_EQ(out.type(), (TensorType{{5, 3, 1}, Dtype::f32}));
  for (const float pixel : out.values<float>()) EXPECT_NEAR(pixel, 200, 1e-3F);
  EXPECT_EQ(resized(bytes, 5, 3, ResizeMethod::nearest).dtype(), Dtype::u8);
}

TEST(Resize, RefusesWhatMakesNoSense) {
  Graph graph;
  const Value counts = graph.input({{4, 4, 3}, Dtype::i32}, "counts"), flat = graph.input({{4, 4}, Dtype::f32}, "flat");
  EXPECT_ERROR("resize_images: images are of a floating type or uint8, got int32[4, 4, 3]",
               ops::resize_images(graph, counts, 2, 2, ResizeMethod::area));
  EXPECT_ERROR(testing::HasSubstr("resize_images: takes images [batch, height, width, channels]"),
               ops::resize_images(graph, flat, 2, 2, ResizeMethod::bicubic));
  EXPECT_ERROR("resize_images: height and width must be at least 1, got 0 and 2",
               ops::resize_images(graph, graph.input({{4, 4, 3}, Dtype::f32}, "x"), 0, 2, ResizeMethod::bicubic));
}

}  // namespace
}  // namespace gpubench::resize_test
