// gb.image: augmentation and resizing of batches of images, named after tf.image.
#include "core/ops/image.h"

#include <array>
#include <memory>

#include "core/base/error.h"
#include "lua/api/openers.h"
#include "lua/api/tensor.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// Numbers are those of one step of a seed. Without a step, as gb.random: one draw of a seed of its own.
struct RandomImageOptions {
  std::optional<std::uint64_t> seed;
  Tensor step = {};
  static constexpr auto fields =
      std::tuple{field("seed", &RandomImageOptions::seed), field("step", &RandomImageOptions::step)};
};

/// A height and a width.
std::array<std::int64_t, 2> read_size(const std::vector<std::int64_t>& size) {
  if (size.size() != 2) throw ArgumentError("the size must be {height, width}");
  return {size[0], size[1]};
}

/// The op that `make` makes of a seed, on images and the step.
template <class Make>
Tensor apply_random(lua_State* L, const Tensor& images, const RandomImageOptions& options, const Make& make) {
  Dispatcher& dispatcher = world_of(L).dispatcher;
  const std::uint64_t seed = options.seed ? *options.seed : session_of(L).next_seed();
  const Tensor step = options.step ? options.step : dispatcher.constant(HostTensor::scalar(std::int64_t{0}));
  return dispatcher.apply_one(make(seed), std::array{images, step});
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

struct ResizeOptions {
  std::string method = "bilinear";
  static constexpr auto fields = std::tuple{field("method", &ResizeOptions::method)};
};

Tensor resize(lua_State* L, const Tensor& images, const std::vector<std::int64_t>& size, const ResizeOptions& options) {
  const auto [height, width] = read_size(size);
  const auto op = std::make_shared<const ResizeImages>(height, width, parse_resize_method(options.method));
  return world_of(L).dispatcher.apply_one(op, std::array{images});
}

}  // namespace

void open_image(lua_State* L) {
  const Module gb = Module::root(L);
  const Module image = gb.submodule("image");
  image.function<&random_flip_left_right>("random_flip_left_right")
      .function<&random_brightness>("random_brightness")
      .function<&random_contrast>("random_contrast")
      .function<&random_crop>("random_crop")
      .function<&resize>("resize");
}

}  // namespace gpubench::lua
