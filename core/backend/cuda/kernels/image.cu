// Blocks take whole rows, or whole channels of an image: an image's numbers are drawn and its place is found once for
// them, and not for every pixel.
#include "core/backend/cuda/kernels/block_reduce.cuh"
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/image.h"
#include "core/math/image.h"

namespace gpubench::cuda {
namespace {

__device__ float load_pixel(const void* data, Dtype type, std::int64_t at) {
  return type == Dtype::u8 ? static_cast<float>(as<std::uint8_t>(data)[at]) : load_as<float>(data, type, at);
}
__device__ void store_pixel(void* data, Dtype type, std::int64_t at, float value) {
  if (type == Dtype::u8) {
    static_cast<std::uint8_t*>(data)[at] = math::to_byte(value);
  } else {
    store_as<float>(data, type, at, value);
  }
}

__device__ math::ImageDraw draw_for(const ImageDraws& draws, std::int64_t image) {
  return math::draw_for_image(draws.seed, math::image_number(draws.steps, draws.images_per_step, image));
}

/// Calls body(row) for the block's rows of all images: row / height is the image.
template <class Body>
__device__ void for_each_row(const ImageBatch& images, const Body& body) {
  for (std::int64_t row = blockIdx.x; row < images.batch * images.height; row += gridDim.x) body(row);
}

template <class Bits>
__global__ void flip_kernel(ImageDraws draws, ImageBatch images, const Bits* in, Bits* out) {
  const int channels = static_cast<int>(images.channels), count = static_cast<int>(images.width) * channels;
  for_each_row(images, [&](std::int64_t row) {
    const bool flipped = math::flips(draw_for(draws, row / images.height));
    const std::int64_t begin = row * count;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += block_threads) {
      const int channel = i % channels;
      out[begin + i] = in[begin + (flipped ? count - channels - i + 2 * channel : i)];
    }
  });
}

template <class Bits>
__global__ void crop_kernel(ImageDraws draws, ImageBatch from, ImageBatch to, const Bits* in, Bits* out) {
  const int count = static_cast<int>(to.width * to.channels);
  for_each_row(to, [&](std::int64_t row) {
    const std::int64_t image = row / to.height, y = row % to.height;
    const math::ImageDraw draw = draw_for(draws, image);
    const std::int64_t top = math::place_of(draw.first, from.height - to.height + 1);
    const std::int64_t left = math::place_of(draw.second, from.width - to.width + 1);
    const Bits* const source = in + ((image * from.height + top + y) * from.width + left) * from.channels;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += block_threads) out[row * count + i] = source[i];
  });
}

__global__ void brightness_kernel(ImageDraws draws, ImageBatch images, float delta, const void* in, void* out) {
  const float brightest = images.type == Dtype::u8 ? 255.0F : 1.0F;
  const int count = static_cast<int>(images.width * images.channels);
  for_each_row(images, [&](std::int64_t row) {
    const float added = math::between(draw_for(draws, row / images.height).first, -delta, delta) * brightest;
    const std::int64_t begin = row * count;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += block_threads) {
      store_pixel(out, images.type, begin + i, load_pixel(in, images.type, begin + i) + added);
    }
  });
}

// A block for a channel of an image: it has read all of it before it writes.
__global__ void contrast_kernel(ImageDraws draws, ImageBatch images, float lower, float upper, const void* in,
                                void* out) {
  __shared__ float shared_mean;
  const std::int64_t pixels = images.height * images.width;
  for (std::int64_t plane = blockIdx.x; plane < images.batch * images.channels; plane += gridDim.x) {
    const std::int64_t image = plane / images.channels, channel = plane % images.channels;
    const std::int64_t begin = image * pixels * images.channels + channel;
    double sum = 0;
    for (std::int64_t p = threadIdx.x; p < pixels; p += block_threads) {
      sum += static_cast<double>(load_pixel(in, images.type, begin + p * images.channels));
    }
    const double total = block_reduce<block_threads>(sum, math::Add{});
    if (threadIdx.x == 0) shared_mean = static_cast<float>(total / static_cast<double>(pixels));
    __syncthreads();
    const float mean = shared_mean, factor = math::between(draw_for(draws, image).first, lower, upper);
    for (std::int64_t p = threadIdx.x; p < pixels; p += block_threads) {
      const std::int64_t at = begin + p * images.channels;
      store_pixel(out, images.type, at, (load_pixel(in, images.type, at) - mean) * factor + mean);
    }
    __syncthreads();  // the next plane's mean goes to the same place
  }
}

__global__ void bilinear_kernel(ImageBatch from, ImageBatch to, float scale_y, float scale_x, const void* in,
                                float* out) {
  const int channels = static_cast<int>(to.channels), count = static_cast<int>(to.width) * channels;
  for_each_row(to, [&](std::int64_t row) {
    const std::int64_t image = row / to.height;
    const math::Neighbours y = math::neighbours_of(row % to.height, scale_y, from.height);
    const std::int64_t above = (image * from.height + y.lower) * from.width;
    const std::int64_t below = (image * from.height + y.upper) * from.width;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += block_threads) {
      const math::Neighbours x = math::neighbours_of(i / channels, scale_x, from.width);
      const auto pixel = [&](std::int64_t place) { return load_pixel(in, from.type, place * channels + i % channels); };
      out[row * count + i] = math::bilinear(pixel(above + x.lower), pixel(above + x.upper), pixel(below + x.lower),
                                            pixel(below + x.upper), x.share, y.share);
    }
  });
}

template <class Bits>
__global__ void nearest_kernel(ImageBatch from, ImageBatch to, float scale_y, float scale_x, const Bits* in,
                               Bits* out) {
  const int channels = static_cast<int>(to.channels), count = static_cast<int>(to.width) * channels;
  for_each_row(to, [&](std::int64_t row) {
    const std::int64_t y = math::nearest_of(row % to.height, scale_y, from.height);
    const Bits* const source = in + (row / to.height * from.height + y) * from.width * channels;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += block_threads) {
      out[row * count + i] = source[math::nearest_of(i / channels, scale_x, from.width) * channels + i % channels];
    }
  });
}

bool is_empty(const ImageBatch& images) {
  return images.batch * images.height * images.width * images.channels == 0;
}
std::int64_t rows_of(const ImageBatch& images) {
  return images.batch * images.height;
}

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
        return load_pixel(in, images.type, at);
      };
      float value = pixel(from.top, from.left);
      if (sampling.bilinear) {
        value = math::bilinear(value, pixel(from.top, from.right), pixel(from.bottom, from.left),
                               pixel(from.bottom, from.right), from.across, from.down);
      }
      store_pixel(out, images.type, row * count + i, value);
    }
  }
}

float scale_of(std::int64_t from, std::int64_t to) {
  return static_cast<float>(from) / static_cast<float>(to);
}

}  // namespace

cudaError_t launch_random_affine(const LaunchOn& on, const ImageDraws& draws, const ImageBatch& images,
                                 const AffineSampling& sampling, const void* in, void* out) {
  if (is_empty(images)) return cudaSuccess;
  return launch_filling<&affine_kernel>(on, rows_of(images), 1, draws, images, sampling, in, out);
}

cudaError_t launch_random_flip(const LaunchOn& on, const ImageDraws& draws, const ImageBatch& images, const void* in,
                               void* out) {
  if (is_empty(images)) return cudaSuccess;
  return with_bits(size_of(images.type), [&]<class Bits>() {
    return launch_filling<&flip_kernel<Bits>>(on, rows_of(images), 1, draws, images, static_cast<const Bits*>(in),
                                              static_cast<Bits*>(out));
  });
}

cudaError_t launch_random_crop(const LaunchOn& on, const ImageDraws& draws, const ImageBatch& from,
                               const ImageBatch& to, const void* in, void* out) {
  if (is_empty(to)) return cudaSuccess;
  return with_bits(size_of(to.type), [&]<class Bits>() {
    return launch_filling<&crop_kernel<Bits>>(on, rows_of(to), 1, draws, from, to, static_cast<const Bits*>(in),
                                              static_cast<Bits*>(out));
  });
}

cudaError_t launch_random_brightness(const LaunchOn& on, const ImageDraws& draws, const ImageBatch& images, float delta,
                                     const void* in, void* out) {
  if (is_empty(images)) return cudaSuccess;
  return launch_filling<&brightness_kernel>(on, rows_of(images), 1, draws, images, delta, in, out);
}

cudaError_t launch_random_contrast(const LaunchOn& on, const ImageDraws& draws, const ImageBatch& images, float lower,
                                   float upper, const void* in, void* out) {
  if (is_empty(images)) return cudaSuccess;
  return launch_filling<&contrast_kernel>(on, images.batch * images.channels, 1, draws, images, lower, upper, in, out);
}

cudaError_t launch_resize_bilinear(const LaunchOn& on, const ImageBatch& from, const ImageBatch& to, const void* in,
                                   float* out) {
  if (is_empty(to)) return cudaSuccess;
  return launch_filling<&bilinear_kernel>(on, rows_of(to), 1, from, to, scale_of(from.height, to.height),
                                          scale_of(from.width, to.width), in, out);
}

cudaError_t launch_resize_nearest(const LaunchOn& on, const ImageBatch& from, const ImageBatch& to, const void* in,
                                  void* out) {
  if (is_empty(to)) return cudaSuccess;
  return with_bits(size_of(to.type), [&]<class Bits>() {
    return launch_filling<&nearest_kernel<Bits>>(on, rows_of(to), 1, from, to, scale_of(from.height, to.height),
                                                 scale_of(from.width, to.width), static_cast<const Bits*>(in),
                                                 static_cast<Bits*>(out));
  });
}

}  // namespace gpubench::cuda
