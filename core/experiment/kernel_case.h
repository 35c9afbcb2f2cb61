// One op at one size, as kernel benchmarks run it: matrix products and convolutions described by their extents.
#pragma once
#include <string>
#include <vector>

#include "core/graph/op.h"
#include "core/ops/window.h"

namespace gpubench {

struct KernelCase {
  std::string op;     ///< "matmul", "conv2d"
  std::string shape;  ///< "1024x1024x1024": short text for rows and messages
  Dtype dtype = Dtype::f32;
  OpPtr description;
  std::vector<TensorType> inputs;
};

struct MatmulExtents {
  std::int64_t m = 0, n = 0, k = 0;
};
/// [m, k] times [k, n]. Throws Error for extents below 1 and types that are not floating-point.
KernelCase matmul_case(const MatmulExtents& extents, Dtype dtype);

struct Conv2DExtents {
  std::int64_t batch = 0, height = 0, width = 0, channels = 0;
  std::int64_t filters = 0, kernel_size = 3, strides = 1;
  Padding padding = Padding::valid;
};
/// Throws Error as matmul_case, and for windows that do not fit.
KernelCase conv2d_case(const Conv2DExtents& extents, Dtype dtype);

}  // namespace gpubench
