#include "core/ops/random_affine.h"

#include <algorithm>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/widened.h"
#include "core/device/device.h"

namespace gpubench::cpu {
namespace {

template <class T>
T to_stored(float x) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return math::to_byte(x);
  } else {
    return CastTo<T>{}(x);
  }
}

/// One row of one image.
template <class T>
void map_row(const RandomAffineAttributes& options, const math::AffineMap& map, const ImageExtents& images,
             std::int64_t y, const T* in, T* out) {
  const std::int64_t width = images.width, channels = images.channels;
  for (std::int64_t x = 0; x < width; ++x) {
    const auto from = math::sampled_pixels(map, options.fill, options.bilinear, images.height, width, y, x);
    const auto pixel = [&](std::int64_t row, std::int64_t column, std::int64_t c) {
      return row < 0 || column < 0 ? options.fill_value
                                   : static_cast<float>(widen(in[(row * width + column) * channels + c]));
    };
    for (std::int64_t c = 0; c < channels; ++c) {
      float value = pixel(from.top, from.left, c);
      if (options.bilinear) {
        value = math::bilinear(value, pixel(from.top, from.right, c), pixel(from.bottom, from.left, c),
                               pixel(from.bottom, from.right, c), from.across, from.down);
      }
      out[x * channels + c] = to_stored<T>(value);
    }
  }
}

std::unique_ptr<Kernel> plan_random_affine(const RandomAffine& op, const Signature& signature, Device& device) {
  constexpr std::int64_t flops_of_element = 32;
  device.bind_to_thread();
  const ImageExtents images = image_extents(signature.inputs[0].shape);
  const std::int64_t per_step = images.images / std::max<std::int64_t>(signature.inputs[1].elements(), 1);
  const std::int64_t rows = images.images * images.height, row = images.width * images.channels;
  const int threads = threads_for_stream(rows, 2 * static_cast<std::int64_t>(signature.inputs[0].bytes()),
                                         signature.inputs[0].elements() * flops_of_element);
  return dispatch(Types<float, std::uint8_t>{}, op.name(), signature.inputs[0].dtype, [&]<class T>() {
    return loop_kernel([=, options = op.options, seed = op.seed](Views inputs, Views outputs) {
      const auto* const steps = inputs[1].as<std::int64_t>();
      const T* const in = inputs[0].as<T>();
      T* const out = outputs[0].as<T>();
      parallel_ranges(threads, rows, [&](int, std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
          const std::int64_t image = r / images.height;
          const auto draw = math::draw_for_image(seed, math::image_number(steps, per_step, image));
          const auto map = math::map_of(options.range, draw, images.height, images.width);
          map_row(options, map, images, r % images.height, in + image * images.height * row, out + r * row);
        }
      });
    });
  });
}

}  // namespace

void add_random_affine(KernelTable& table) {
  add_float32_row<&plan_random_affine>(table);
}

}  // namespace gpubench::cpu
