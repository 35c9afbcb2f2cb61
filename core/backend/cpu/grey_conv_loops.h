// The loops over one image of few channels: convolution, and the sums of its filter's gradient.
#pragma once
#include "core/backend/cpu/grey_conv_geometry.h"

namespace gpubench::cpu {

struct GreyEpilogue {
  const float* bias;  ///< null for none
  bool relu;
};

/// y of one image `x` that has its border.
void grey_convolve(const GreyConvGeometry& g, const float* x, const float* filter, const GreyEpilogue& epilogue,
                   float* y);
/// Adds one image's part of the filter's gradient to `sums`.
void grey_correlate(const GreyConvGeometry& g, const float* x, const float* dy, float* sums);

}  // namespace gpubench::cpu
