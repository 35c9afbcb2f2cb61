// gb.image: augmentation and scaling of images, named after tf.image.
#include "core/ops/image.h"

#include <array>
#include <memory>
#include <variant>

#include "core/base/error.h"
#include "lua/api/openers.h"
#include "lua/api/tensor/image_graph.h"
#include "lua/api/types.h"

namespace gpubench::lua {
namespace {

/// A height and a width.
std::array<std::int64_t, 2> read_size(const std::vector<std::int64_t>& size) {
  if (size.size() != 2) throw ArgumentError("the size must be {height, width}");
  return {size[0], size[1]};
}

/// The op that `make` makes of a seed, on images and the step.
template <class Make>
Tensor apply_random(lua_State* L, const Tensor& images, const RandomImageOptions& options, const Make& make) {
  Dispatcher& dispatcher = world_of(L).dispatcher;
  const std::uint64_t seed = options.seed_in(L);
  return dispatcher.apply_one(make(seed), std::array{images, options.step_in(L)});
}

Tensor random_flip_left_right(lua_State* L, const Tensor& images, const RandomImageOptions& options) {
  return apply_random(L, images, options,
                      [](std::uint64_t seed) { return std::make_shared<const RandomFlipLeftRight>(seed); });
}

Tensor random_brightness(lua_State* L, const Tensor& images, double max_delta, const RandomImageOptions& options) {
  return apply_random(L, images, options, [max_delta](std::uint64_t seed) {
    return std::make_shared<const RandomBrightness>(max_delta, seed);
  });
}

Tensor random_contrast(lua_State* L, const Tensor& images, double lower, double upper,
                       const RandomImageOptions& options) {
  return apply_random(L, images, options, [lower, upper](std::uint64_t seed) {
    return std::make_shared<const RandomContrast>(lower, upper, seed);
  });
}

Tensor random_crop(lua_State* L, const Tensor& images, const std::vector<std::int64_t>& size,
                   const RandomImageOptions& options) {
  const auto [height, width] = read_size(size);
  return apply_random(L, images, options, [height = height, width = width](std::uint64_t seed) {
    return std::make_shared<const RandomCrop>(height, width, seed);
  });
}

using PerChannel = std::variant<double, std::vector<double>>;

std::vector<float> numbers_of(const PerChannel& given) {
  if (const auto* number = std::get_if<double>(&given)) return {static_cast<float>(*number)};
  const auto& list = std::get<std::vector<double>>(given);
  return {list.begin(), list.end()};
}

Tensor normalize(lua_State* L, const Tensor& images, const PerChannel& mean, const PerChannel& stddev) {
  return apply_built(L, {images}, [&](Graph& graph, const auto& inputs) {
    return ops::normalize_images(graph, inputs[0], numbers_of(mean), numbers_of(stddev));
  });
}

Tensor convert_images(lua_State* L, const Tensor& images, Dtype dtype) {
  return apply_built(
      L, {images}, [dtype](Graph& graph, const auto& inputs) { return ops::convert_images(graph, inputs[0], dtype); });
}

}  // namespace

void open_image(lua_State* L) {
  const Module gb = Module::root(L);
  const Module image = gb.submodule("image");
  image.function<&random_flip_left_right>("random_flip_left_right")
      .function<&random_brightness>("random_brightness")
      .function<&random_contrast>("random_contrast")
      .function<&random_crop>("random_crop")
      .function<&normalize>("normalize")
      .function<&convert_images>("cast");
  add_image_colours(image);
  add_image_extents(image);
}

}  // namespace gpubench::lua
