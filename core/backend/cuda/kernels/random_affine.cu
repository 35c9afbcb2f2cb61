// Blocks take whole rows, so that an image's map is made once for a row.
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/random_affine.h"

namespace gpubench::cuda {
namespace {

__global__ void affine_kernel(ImageDraws draws, ImageBatch images, AffineSampling sampling, const void* in, void* out) {
  const int channels = static_cast<int>(images.channels), count = static_cast<int>(images.width) * channels;
  for (std::int64_t row = blockIdx.x; row < images.batch * images.height; row += gridDim.x) {
    const std::int64_t image = row / images.height, begin = image * images.height * images.width;
    const auto draw = math::draw_for_image(draws.seed, math::image_number(draws.steps, draws.images_per_step, image));
    const auto map = math::map_of(sampling.range, draw, images.height, images.width);
    for (int i = static_cast<int>(threadIdx.x); i < count; i += block_threads) {
      const auto from = math::sampled_pixels(map, sampling.fill, sampling.bilinear, images.height, images.width,
                                             row % images.height, i / channels);
      const auto pixel = [&](std::int64_t y, std::int64_t x) {
        if (y < 0 || x < 0) return sampling.fill_value;
        const std::int64_t at = (begin + y * images.width + x) * channels + i % channels;
        return images.type == Dtype::u8 ? static_cast<float>(as<std::uint8_t>(in)[at])
                                        : load_as<float>(in, images.type, at);
      };
      float value = pixel(from.top, from.left);
      if (sampling.bilinear) {
        value = math::bilinear(value, pixel(from.top, from.right), pixel(from.bottom, from.left),
                               pixel(from.bottom, from.right), from.across, from.down);
      }
      if (images.type == Dtype::u8) {
        static_cast<std::uint8_t*>(out)[row * count + i] = math::to_byte(value);
      } else {
        store_as<float>(out, images.type, row * count + i, value);
      }
    }
  }
}

}  // namespace

cudaError_t launch_random_affine(const LaunchOn& on, const ImageDraws& draws, const ImageBatch& images,
                                 const AffineSampling& sampling, const void* in, void* out) {
  if (images.batch * images.height * images.width * images.channels == 0) return cudaSuccess;
  return launch_filling<&affine_kernel>(on, images.batch * images.height, 1, draws, images, sampling, in, out);
}

}  // namespace gpubench::cuda
