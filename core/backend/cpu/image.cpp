#include "core/math/image.h"

#include <algorithm>
#include <cstring>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/widened.h"
#include "core/ops/image.h"

namespace gpubench::cpu {
namespace {

using Pixels = Types<float, math::Float16, math::Bfloat16, std::uint8_t>;

/// The value of full brightness in each pixel type.
template <class T>
constexpr float brightest = std::is_same_v<T, std::uint8_t> ? 255.0F : 1.0F;

template <class T>
T to_pixel(float x) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return math::to_byte(x);
  } else {
    return CastTo<T>{}(x);
  }
}

/// Images are shared among threads; body(draw, in, out) gets the pixels of one.
template <class T, class Body>
std::unique_ptr<Kernel> for_each_image(const Signature& signature, std::uint64_t seed, Body body) {
  const std::int64_t images = image_extents(signature.outputs[0].shape).images;
  const std::int64_t per_step = images / std::max<std::int64_t>(signature.inputs[1].elements(), 1);
  const std::int64_t from = images == 0 ? 0 : signature.inputs[0].elements() / images;
  const std::int64_t to = images == 0 ? 0 : signature.outputs[0].elements() / images;
  const int threads = threads_for_stream(images, images * (from + to) * static_cast<std::int64_t>(sizeof(T)));
  return loop_kernel([=](Views inputs, Views outputs) {
    const auto* const steps = inputs[1].as<std::int64_t>();
    const T* const in = reinterpret_cast<const T*>(inputs[0].data);
    T* const out = reinterpret_cast<T*>(outputs[0].data);
    parallel_ranges(threads, images, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        body(math::draw_for_image(seed, math::image_number(steps, per_step, i)), in + i * from, out + i * to);
      }
    });
  });
}

/// The output is never the input's memory.
template <class T>
void mirror_row(const T* in, T* out, std::int64_t width, std::int64_t channels) {
  if (channels == 1) {
#pragma omp simd
    for (std::int64_t x = 0; x < width; ++x) out[x] = in[width - 1 - x];
    return;
  }
  for (std::int64_t x = 0; x < width; ++x) {
    for (std::int64_t c = 0; c < channels; ++c) out[x * channels + c] = in[(width - 1 - x) * channels + c];
  }
}

/// Every channel for itself; the output may be the input's memory.
template <class T>
void change_contrast(const T* in, T* out, std::int64_t pixels, std::int64_t channels, float factor) {
  for (std::int64_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (std::int64_t p = 0; p < pixels; ++p) sum += static_cast<double>(widen(in[p * channels + c]));
    const auto mean = static_cast<float>(sum / static_cast<double>(pixels));
    for (std::int64_t p = 0; p < pixels; ++p) {
      const std::int64_t i = p * channels + c;
      out[i] = to_pixel<T>((static_cast<float>(widen(in[i])) - mean) * factor + mean);
    }
  }
}

/// Rows of all images of the output are shared among threads: body(image, row).
template <class Body>
void for_each_row(int threads, const ImageExtents& output, const Body& body) {
  parallel_ranges(threads, output.images * output.height, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) body(row / output.height, row % output.height);
  });
}

int threads_for_resize(const Signature& signature) {
  constexpr std::int64_t flops = 16;
  const TensorType& output = signature.outputs[0];
  const ImageExtents images = image_extents(output.shape);
  return threads_for_stream(images.images * images.height, static_cast<std::int64_t>(output.bytes()),
                            output.elements() * flops);
}

float scale_of(std::int64_t from, std::int64_t to) {
  return static_cast<float>(from) / static_cast<float>(to);
}

template <class T>
std::unique_ptr<Kernel> bilinear(const Signature& signature) {
  const ImageExtents from = image_extents(signature.inputs[0].shape), to = image_extents(signature.outputs[0].shape);
  return loop_kernel([from, to, threads = threads_for_resize(signature)](Views inputs, Views outputs) {
    const T* const in = inputs[0].as<T>();
    float* const out = outputs[0].as<float>();
    const std::int64_t channels = to.channels, width = to.width;
    const float scale_y = scale_of(from.height, to.height), scale_x = scale_of(from.width, to.width);
    for_each_row(threads, to, [&](std::int64_t image, std::int64_t row) {
      const math::Neighbours y = math::neighbours_of(row, scale_y, from.height);
      const T* const above = in + (image * from.height + y.lower) * from.width * channels;
      const T* const below = in + (image * from.height + y.upper) * from.width * channels;
      float* const to_row = out + (image * to.height + row) * width * channels;
      for (std::int64_t column = 0; column < width; ++column) {
        const math::Neighbours x = math::neighbours_of(column, scale_x, from.width);
        for (std::int64_t c = 0; c < channels; ++c) {
          const std::int64_t left = x.lower * channels + c, right = x.upper * channels + c;
          to_row[column * channels + c] = math::bilinear(widen(above[left]), widen(above[right]), widen(below[left]),
                                                         widen(below[right]), x.share, y.share);
        }
      }
    });
  });
}

template <class Bits>
std::unique_ptr<Kernel> nearest(const Signature& signature) {
  const ImageExtents from = image_extents(signature.inputs[0].shape), to = image_extents(signature.outputs[0].shape);
  return loop_kernel([from, to, threads = threads_for_resize(signature)](Views inputs, Views outputs) {
    const Bits* const in = raw<Bits>(inputs[0]);
    Bits* const out = raw<Bits>(outputs[0]);
    const std::int64_t channels = to.channels, width = to.width;
    const float scale_y = scale_of(from.height, to.height), scale_x = scale_of(from.width, to.width);
    for_each_row(threads, to, [&](std::int64_t image, std::int64_t row) {
      const Bits* const source =
          in + (image * from.height + math::nearest_of(row, scale_y, from.height)) * from.width * channels;
      Bits* const to_row = out + (image * to.height + row) * width * channels;
      for (std::int64_t column = 0; column < width; ++column) {
        const std::int64_t nearest = math::nearest_of(column, scale_x, from.width) * channels;
        for (std::int64_t c = 0; c < channels; ++c) to_row[column * channels + c] = source[nearest + c];
      }
    });
  });
}

std::unique_ptr<Kernel> plan_random_flip_left_right(const RandomFlipLeftRight& op, const Signature& signature,
                                                    Device&) {
  const ImageExtents images = image_extents(signature.inputs[0].shape);
  return dispatch_size(signature.inputs[0].dtype, [&]<class Bits>() {
    return for_each_image<Bits>(signature, op.seed,
                                [height = images.height, width = images.width, channels = images.channels](
                                    const math::ImageDraw& draw, const Bits* in, Bits* out) {
                                  const std::int64_t row = width * channels;
                                  for (std::int64_t y = 0; math::flips(draw) && y < height; ++y) {
                                    mirror_row(in + y * row, out + y * row, width, channels);
                                  }
                                  if (!math::flips(draw)) std::copy_n(in, height * row, out);
                                });
  });
}

std::unique_ptr<Kernel> plan_random_brightness(const RandomBrightness& op, const Signature& signature, Device&) {
  const std::int64_t images = std::max<std::int64_t>(image_extents(signature.inputs[0].shape).images, 1);
  return dispatch(Pixels{}, op.name(), signature.inputs[0].dtype, [&]<class T>() {
    return for_each_image<T>(
        signature, op.seed,
        [count = signature.inputs[0].elements() / images, delta = static_cast<float>(op.max_delta)](
            const math::ImageDraw& draw, const T* in, T* out) {
          const float added = math::between(draw.first, -delta, delta) * brightest<T>;
#pragma omp simd
          for (std::int64_t i = 0; i < count; ++i) out[i] = to_pixel<T>(widen(in[i]) + added);
        });
  });
}

std::unique_ptr<Kernel> plan_random_contrast(const RandomContrast& op, const Signature& signature, Device&) {
  const ImageExtents images = image_extents(signature.inputs[0].shape);
  return dispatch(Pixels{}, op.name(), signature.inputs[0].dtype, [&]<class T>() {
    return for_each_image<T>(
        signature, op.seed,
        [pixels = images.height * images.width, channels = images.channels, lower = static_cast<float>(op.lower),
         upper = static_cast<float>(op.upper)](const math::ImageDraw& draw, const T* in, T* out) {
          const float factor = math::between(draw.first, lower, upper);
          change_contrast(in, out, pixels, channels, factor);
        });
  });
}

std::unique_ptr<Kernel> plan_random_crop(const RandomCrop& op, const Signature& signature, Device&) {
  const ImageExtents from = image_extents(signature.inputs[0].shape), to = image_extents(signature.outputs[0].shape);
  return dispatch_size(signature.inputs[0].dtype, [&]<class Bits>() {
    return for_each_image<Bits>(
        signature, op.seed,
        [tops = from.height - to.height + 1, lefts = from.width - to.width + 1, from_row = from.width * from.channels,
         to_row = to.width * to.channels, height = to.height,
         channels = to.channels](const math::ImageDraw& draw, const Bits* in, Bits* out) {
          const std::int64_t top = math::place_of(draw.first, tops);
          const std::int64_t left = math::place_of(draw.second, lefts) * channels;
          for (std::int64_t y = 0; y < height; ++y) {
            std::copy_n(in + (top + y) * from_row + left, to_row, out + y * to_row);
          }
        });
  });
}

std::unique_ptr<Kernel> plan_resize_images(const ResizeImages& op, const Signature& signature, Device&) {
  if (op.method == ResizeMethod::nearest) {
    return dispatch_size(signature.inputs[0].dtype, [&]<class Bits>() { return nearest<Bits>(signature); });
  }
  return dispatch(Pixels{}, op.name(), signature.inputs[0].dtype, [&]<class T>() { return bilinear<T>(signature); });
}

}  // namespace

void add_image(KernelTable& table) {
  add_float32_row<&plan_random_flip_left_right>(table);
  add_float32_row<&plan_random_brightness>(table);
  add_float32_row<&plan_random_contrast>(table);
  add_float32_row<&plan_random_crop>(table);
  add_float32_row<&plan_resize_images>(table);
}

}  // namespace gpubench::cpu
