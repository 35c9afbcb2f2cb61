// Layers that change images at random: when they do, with which op, and what they refuse.
#include <gmock/gmock.h>

#include "tests/core/nn/called.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Called;
using support::f32;
using support::infer;
using ::testing::Contains;
using ::testing::ElementsAre;

const std::vector<std::pair<const char*, ConfigEntries>> kinds = {
    {"RandomFlip", {{"mode", std::string("vertical")}}},
    {"RandomRotation", {{"factor", 0.1}}},
    {"RandomTranslation", {{"height_factor", 0.1}, {"width_factor", 0.2}}},
    {"RandomZoom", {{"height_factor", 0.1}}},
};

TEST(RandomImages, ActInTrainingOnly) {
  for (const auto& [kind, options] : kinds) {
    EXPECT_THAT(Called(kind, options, {f32({4, 4, 3})}, true).ops(), ElementsAre("mul", "add", "random_affine"));
    EXPECT_THAT(Called(kind, options, {f32({4, 4, 3})}, false).ops(), ElementsAre());
  }
  EXPECT_THAT(Called("RandomFlip", {{"mode", std::string("horizontal")}}, {f32({4, 4, 3})}, true).ops(),
              ElementsAre("mul", "add", "random_flip_left_right"));
  EXPECT_THAT(Called("RandomContrast", {{"factor", 0.1}}, {f32({4, 4, 3})}, true).ops(),
              ElementsAre("mul", "add", "random_contrast", "maximum", "minimum"));
  EXPECT_THAT(Called("RandomBrightness", {{"factor", 0.1}}, {f32({4, 4, 3})}, true).ops(),
              Contains("random_brightness"));
}

TEST(RandomImages, ZoomBothExtentsByOneNumberUnlessTold) {
  const auto attributes = [](const ConfigEntries& options) {
    const Called layer("RandomZoom", options, {f32({4, 4, 3})}, true);
    return layer.graph.node(layer.output).op->attributes();
  };
  EXPECT_THAT(attributes({{"height_factor", 0.5}, {"seed", std::int64_t{3}}}),
              "zoom y=[0.5, 1.5] x=[1, 1] together=true fill=reflect 0 bilinear=true seed=3");
  EXPECT_THAT(attributes({{"height_factor", 0.5}, {"width_factor", 0.25}, {"seed", std::int64_t{3}}}),
              "zoom y=[0.5, 1.5] x=[0.75, 1.25] together=false fill=reflect 0 bilinear=true seed=3");
}

TEST(RandomImages, Refuse) {
  const std::vector<TensorType> images = {f32({4, 4, 3})};
  EXPECT_ERROR(
      "RandomFlip: mode must be 'horizontal', 'vertical' or 'horizontal_and_vertical', "
      "got 'diagonal'",
      infer("RandomFlip", {{"mode", std::string("diagonal")}}, images));
  EXPECT_ERROR("RandomRotation: factor must be 0 to 1, got 2", infer("RandomRotation", {{"factor", 2.0}}, images));
  EXPECT_ERROR("unknown fill_mode 'mirror' (known: constant, nearest, reflect, wrap)",
               infer("RandomZoom", {{"height_factor", 0.1}, {"fill_mode", std::string("mirror")}}, images));
  EXPECT_ERROR("RandomZoom: interpolation must be 'bilinear' or 'nearest', got 'cubic'",
               infer("RandomZoom", {{"height_factor", 0.1}, {"interpolation", std::string("cubic")}}, images));
  EXPECT_ERROR("RandomContrast: value_range must be two rising integers, got [1, 0]",
               infer("RandomContrast", {{"factor", 0.1}, {"value_range", Shape{1, 0}}}, images));
  EXPECT_ERROR(
      "layer 'random_rotation' (RandomRotation): expects [height, width, channels] per "
      "example, got float32[4]",
      infer("RandomRotation", {{"factor", 0.1}}, {f32({4})}));
}

}  // namespace
}  // namespace gpubench
