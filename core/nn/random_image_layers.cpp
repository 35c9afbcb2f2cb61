// Layers that change images at random in training, each image by its own numbers; otherwise they pass images on. The
// numbers depend on the layer's seed, the step, and the image's row in the batch.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "core/base/error.h"
#include "core/nn/dropout.h"
#include "core/nn/layer_kind.h"
#include "core/nn/sliding.h"
#include "core/ops/broadcast.h"
#include "core/ops/elementwise.h"
#include "core/ops/image.h"
#include "core/ops/random_affine.h"

namespace gpubench::nn {
namespace {

/// The value of zoom's option width_factor that stands for none: as height_factor.
constexpr double as_height = -1;

/// Images, and the number of the first one for random ops.
struct Images {
  Graph& graph;
  Value x, number;
  std::uint64_t seed;
};

double share(const Config& config, const char* option) {
  const double given = config.number(option);
  if (given >= 0 && given <= 1) return given;
  throw Error(fmt::format("{}: {} must be 0 to 1, got {}", config.owner(), option, given));
}

Value random_affine(const Config& config, const Images& images, const math::MotionRange& range) {
  const RandomAffineAttributes options{.range = range,
                                       .fill = parse_fill(config.text("fill_mode")),
                                       .fill_value = static_cast<float>(config.number("fill_value")),
                                       .bilinear = config.text("interpolation") == "bilinear"};
  const std::string& interpolation = config.text("interpolation");
  if (!options.bilinear && interpolation != "nearest") {
    throw Error(
        fmt::format("{}: interpolation must be 'bilinear' or 'nearest', got '{}'", config.owner(), interpolation));
  }
  return images.graph.apply(std::make_shared<const RandomAffine>(options, images.seed), {images.x, images.number});
}

Value flip(const Config& config, const Images& images) {
  const std::string& mode = config.text("mode");
  const bool both = mode == "horizontal_and_vertical", across = both || mode == "horizontal";
  const bool down = both || mode == "vertical";
  if (!across && !down) {
    throw Error(
        fmt::format("RandomFlip: mode must be 'horizontal', 'vertical' or 'horizontal_and_vertical', got '{}'", mode));
  }
  if (!down) {
    const auto op = std::make_shared<const RandomFlipLeftRight>(images.seed);
    return images.graph.apply(op, {images.x, images.number});
  }
  const RandomAffineAttributes options{
      .range = {.motion = math::Motion::flip, .high_y = 1, .high_x = across ? 1.0F : 0.0F}, .bilinear = false};
  return images.graph.apply(std::make_shared<const RandomAffine>(options, images.seed), {images.x, images.number});
}

Value rotate(const Config& config, const Images& images) {
  const auto angle = static_cast<float>(2 * std::numbers::pi * share(config, "factor"));
  return random_affine(config, images, {.motion = math::Motion::rotate, .low_y = -angle, .high_y = angle});
}

Value translate(const Config& config, const Images& images) {
  const auto y = static_cast<float>(share(config, "height_factor"));
  const auto x = static_cast<float>(share(config, "width_factor"));
  return random_affine(config, images,
                       {.motion = math::Motion::translate, .low_y = -y, .high_y = y, .low_x = -x, .high_x = x});
}

Value zoom(const Config& config, const Images& images) {
  const auto y = static_cast<float>(share(config, "height_factor"));
  const bool together = config.number("width_factor") == as_height;
  const float x = together ? 0 : static_cast<float>(share(config, "width_factor"));
  return random_affine(config, images,
                       {.motion = math::Motion::zoom,
                        .low_y = 1 - y,
                        .high_y = 1 + y,
                        .low_x = 1 - x,
                        .high_x = 1 + x,
                        .together = together});
}

struct ValueRange {
  double low, high;
};

ValueRange value_range(const Config& config) {
  const Shape& range = config.shape("value_range");
  if (range.size() == 2 && range[0] < range[1]) {
    return {static_cast<double>(range[0]), static_cast<double>(range[1])};
  }
  throw Error(fmt::format("{}: value_range must be two rising integers, got {}", config.owner(), to_string(range)));
}

Value within(const Images& images, Value x, const ValueRange& range) {
  const auto number = [&](double value) { return ops::scalar(images.graph, value, images.graph.type(x).dtype); };
  return ops::minimum(images.graph, ops::maximum(images.graph, x, number(range.low)), number(range.high));
}

Value brighten(const Config& config, const Images& images) {
  const ValueRange range = value_range(config);
  const auto op =
      std::make_shared<const RandomBrightness>(share(config, "factor") * (range.high - range.low), images.seed);
  return within(images, images.graph.apply(op, {images.x, images.number}), range);
}

Value contrast(const Config& config, const Images& images) {
  const double factor = share(config, "factor");
  const auto op = std::make_shared<const RandomContrast>(1 - factor, 1 + factor, images.seed);
  return within(images, images.graph.apply(op, {images.x, images.number}), value_range(config));
}

struct RandomKind {
  const char* kind;
  const char* default_name;
  Value (*change)(const Config&, const Images&);
};

constexpr std::array random_kinds = {
    RandomKind{"RandomBrightness", "random_brightness", &brighten},
    RandomKind{"RandomContrast", "random_contrast", &contrast},
    RandomKind{"RandomFlip", "random_flip", &flip},
    RandomKind{"RandomRotation", "random_rotation", &rotate},
    RandomKind{"RandomTranslation", "random_translation", &translate},
    RandomKind{"RandomZoom", "random_zoom", &zoom},
};

class RandomImages final : public SeededLayer {
 public:
  RandomImages(Config given, DeviceId device)
      : SeededLayer(std::move(given), std::move(device)),
        kind_(*std::ranges::find(random_kinds, kind(), [](const RandomKind& row) { return std::string(row.kind); })) {
    Graph graph;  // checks the options
    const Value image = graph.input({{1, 1, 1, 1}, Dtype::f32}, "image");
    kind_.change(config(), {graph, image, graph.input({{}, Dtype::i64}, "number"), seed()});
  }
  std::string default_name() const override { return kind_.default_name; }
  bool draws() const override { return true; }
  TensorType output_type(TensorTypes inputs) const override { return only_input(inputs, 3, sliding_form(2)); }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    if (!context.training) return inputs[0];
    return kind_.change(config(), {context.graph, inputs[0], first_number(*this, context), seed()});
  }

  const RandomKind& kind_;
};

LayerKind random_kind(const char* name, std::vector<std::string> positional, std::vector<ConfigField> fields) {
  fields.push_back({"seed", std::int64_t{-1}});
  return {name, std::move(positional), std::move(fields), &construct_layer<RandomImages>};
}

std::vector<ConfigField> motion_fields(std::vector<ConfigField> own) {
  own.insert(own.end(),
             {{"fill_mode", std::string("reflect")}, {"interpolation", std::string("bilinear")}, {"fill_value", 0.0}});
  return own;
}

}  // namespace

LayerKind random_brightness() {
  return random_kind("RandomBrightness", {"factor"}, {{"factor", 0.0, true}, {"value_range", Shape{0, 255}}});
}
LayerKind random_contrast() {
  return random_kind("RandomContrast", {"factor"}, {{"factor", 0.0, true}, {"value_range", Shape{0, 255}}});
}
LayerKind random_flip() {
  return random_kind("RandomFlip", {"mode"}, {{"mode", std::string("horizontal_and_vertical")}});
}
LayerKind random_rotation() {
  return random_kind("RandomRotation", {"factor"}, motion_fields({{"factor", 0.0, true}}));
}
LayerKind random_translation() {
  return random_kind("RandomTranslation", {"height_factor", "width_factor"},
                     motion_fields({{"height_factor", 0.0, true}, {"width_factor", 0.0, true}}));
}
LayerKind random_zoom() {
  return random_kind("RandomZoom", {"height_factor", "width_factor"},
                     motion_fields({{"height_factor", 0.0, true}, {"width_factor", as_height}}));
}

}  // namespace gpubench::nn
