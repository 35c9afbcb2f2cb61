// How reductions combine two values.
#pragma once
#include "core/backend/cuda/kernels/device.cuh"

namespace gpubench::cuda {

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
/// Of values that are numbers.
struct Largest {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return b > a ? b : a;
  }
};
struct Smallest {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
/// Not a number wins in both, as in NumPy.
struct Larger {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};
struct Smaller {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};

}  // namespace gpubench::cuda
