#include "core/ops/random_affine.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "core/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::random_affine_test {
namespace {

using math::Fill;
using math::Motion;
using support::Array;
using support::CaseInput;
using support::OpCase;
using testing::ThrowsMessage;

constexpr std::uint64_t seed = 77;

/// Bilinear interpolation in double precision at the places that the shared map gives.
void transform(const RandomAffineAttributes& options, std::span<const Array> in, std::span<Array> out) {
  const auto [count, height, width, channels] = image_extents(in[0].type.shape);
  const std::int64_t per_step = count / in[1].size();
  for (std::int64_t i = 0; i < out[0].size(); ++i) {
    const std::int64_t c = i % channels, x = i / channels % width, y = i / channels / width % height;
    const std::int64_t image = i / channels / width / height;
    const auto number =
        static_cast<std::uint64_t>(in[1][image / per_step]) + static_cast<std::uint64_t>(image % per_step);
    const auto map = math::map_of(options.range, math::draw_for_image(seed, number), height, width);
    const auto from = math::sampled_pixels(map, options.fill, options.bilinear, height, width, y, x);
    const auto pixel = [&, rows = height, columns = width, depth = channels](std::int64_t row, std::int64_t column) {
      if (row < 0 || column < 0) return static_cast<double>(options.fill_value);
      return in[0][((image * rows + row) * columns + column) * depth + c];
    };
    const auto across = static_cast<double>(from.across), down = static_cast<double>(from.down);
    double value = pixel(from.top, from.left);
    if (options.bilinear) {
      value = (1 - down) * ((1 - across) * value + across * pixel(from.top, from.right)) +
              down * ((1 - across) * pixel(from.bottom, from.left) + across * pixel(from.bottom, from.right));
    }
    out[0][i] = in[0].type.dtype == Dtype::u8 ? std::floor(value + 0.5) : value;
  }
}

OpCase affine_case(std::string name, Shape images, RandomAffineAttributes options, Dtype dtype = Dtype::f32,
                   Shape steps = {}) {
  const bool floats = dtype == Dtype::f32;
  return {.name = std::move(name),
          .op = std::make_shared<const RandomAffine>(options, seed),
          .inputs = {CaseInput{
                         .type = {std::move(images), dtype}, .low = floats ? -1.0 : 0.0, .high = floats ? 1.0 : 200.0},
                     CaseInput{.type = {std::move(steps), Dtype::i64}, .low = 0, .high = 1e9}},
          .reference = [options](std::span<const Array> in, std::span<Array> out) { transform(options, in, out); },
          .differentiable = false};
}

std::vector<OpCase> affine_cases() {
  const math::MotionRange both{.motion = Motion::flip, .high_y = 1, .high_x = 1};
  const math::MotionRange turn{.motion = Motion::rotate, .low_y = -2, .high_y = 2};
  const math::MotionRange shift{.motion = Motion::translate, .low_y = -1, .high_y = 1, .low_x = -0.5F, .high_x = 0.5F};
  const math::MotionRange zoom{.motion = Motion::zoom, .low_y = 0.5F, .high_y = 1.5F, .together = true};
  return {
      affine_case("flip", {5, 4, 3, 2}, {.range = both, .bilinear = false}),
      affine_case("flip_uint8", {5, 4, 3, 2}, {.range = both, .bilinear = false}, Dtype::u8),
      affine_case("rotate", {3, 5, 6, 2}, {.range = turn}),
      affine_case("rotate_one", {5, 6, 1}, {.range = turn, .fill = Fill::wrap}),
      affine_case("translate", {3, 5, 6, 1}, {.range = shift, .fill = Fill::constant, .fill_value = 0.5F}),
      affine_case("translate_by_steps", {4, 2, 5, 6, 1}, {.range = shift, .fill = Fill::wrap}, Dtype::f32, {4}),
      affine_case("zoom", {3, 5, 6, 3}, {.range = zoom, .fill = Fill::nearest}),
      affine_case("zoom_on_threads", {40, 24, 24, 3}, {.range = zoom}),
  };
}

GPUBENCH_OP_CASES(RandomAffine, affine_cases);

TEST(RandomAffineTest, FlipsBothWays) {
  const math::MotionRange both{.motion = Motion::flip, .high_y = 1, .high_x = 1};
  const math::AffineMap map = math::map_of(both, {0, 0xFFFFFFFFU}, 4, 3);  // down, not across
  EXPECT_EQ(math::sampled_pixels(map, Fill::reflect, false, 4, 3, 0, 1).top, 3);
  EXPECT_EQ(math::sampled_pixels(map, Fill::reflect, false, 4, 3, 0, 1).left, 1);
}

TEST(RandomAffineTest, FillsWhatLiesOutside) {
  const auto indices = [](Fill fill) {
    std::vector<std::int64_t> found;
    for (std::int64_t i = -4; i < 7; ++i) found.push_back(math::filled_index(fill, i, 3));
    return found;
  };
  EXPECT_EQ(indices(Fill::reflect), (std::vector<std::int64_t>{2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0}));
  EXPECT_EQ(indices(Fill::wrap), (std::vector<std::int64_t>{2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(indices(Fill::nearest), (std::vector<std::int64_t>{0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2}));
  EXPECT_EQ(indices(Fill::constant), (std::vector<std::int64_t>{-1, -1, -1, -1, 0, 1, 2, -1, -1, -1, -1}));
}

TEST(RandomAffineTest, Refuses) {
  Graph graph;
  const Value step = graph.input({{}, Dtype::i64}, "step");
  const auto apply = [&](const TensorType& type) {
    return [&graph, step, type] {
      graph.apply(std::make_shared<const RandomAffine>(RandomAffineAttributes{}, seed), {graph.input(type, "x"), step});
    };
  };
  EXPECT_THAT(apply({{2, 0, 3, 1}, Dtype::f32}),
              ThrowsMessage<Error>("random_affine: float32[2, 0, 3, 1] has no pixels"));
  EXPECT_ERROR("unknown fill_mode 'mirror' (known: constant, nearest, reflect, wrap)", parse_fill("mirror"));
}

}  // namespace
}  // namespace gpubench::random_affine_test
