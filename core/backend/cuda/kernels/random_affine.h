// Random affine maps of images [batch, height, width, channels], with the same random numbers as on the CPU.
#pragma once
#include "core/backend/cuda/kernels/image.h"
#include "core/math/affine.h"

namespace gpubench::cuda {

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
