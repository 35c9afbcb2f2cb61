// Augmentation and resizing of images [batch, height, width, channels], with the same random numbers as on the CPU. The
// step is read from device memory, so that a replayed CUDA graph draws anew in every step.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/math/affine.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

struct ImageBatch {
  std::int64_t batch = 0, height = 0, width = 0, channels = 0;
  Dtype type = Dtype::f32;
};

struct ImageDraws {
  std::uint64_t seed = 0;
  const std::int64_t* steps = nullptr;
  std::int64_t images_per_step = 0;
};

/// Any type; never in place.
cudaError_t launch_random_flip(const LaunchOn& on, const ImageDraws& draws, const ImageBatch& images, const void* in,
                               void* out);
cudaError_t launch_random_crop(const LaunchOn& on, const ImageDraws& draws, const ImageBatch& from,
                               const ImageBatch& to, const void* in, void* out);
cudaError_t launch_resize_nearest(const LaunchOn& on, const ImageBatch& from, const ImageBatch& to, const void* in,
                                  void* out);
/// Floating types and uint8; the output may be the input's memory.
cudaError_t launch_random_brightness(const LaunchOn& on, const ImageDraws& draws, const ImageBatch& images, float delta,
                                     const void* in, void* out);
cudaError_t launch_random_contrast(const LaunchOn& on, const ImageDraws& draws, const ImageBatch& images, float lower,
                                   float upper, const void* in, void* out);
/// From floating types and uint8 to float32.
cudaError_t launch_resize_bilinear(const LaunchOn& on, const ImageBatch& from, const ImageBatch& to, const void* in,
                                   float* out);

struct AffineSampling {
  math::MotionRange range = {};
  math::Fill fill = math::Fill::reflect;
  float fill_value = 0;
  bool bilinear = true;
};

/// Floating types and uint8; never in place.
cudaError_t launch_random_affine(const LaunchOn& on, const ImageDraws& draws, const ImageBatch& images,
                                 const AffineSampling& sampling, const void* in, void* out);

}  // namespace gpubench::cuda
