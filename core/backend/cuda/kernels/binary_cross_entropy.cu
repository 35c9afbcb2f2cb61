// Binary cross-entropy and its gradient, element by element.
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/math/loss.h"

namespace gpubench::cuda {

template <>
ElementwiseLaunch elementwise_launch<math::BinaryCrossEntropy>() {
  return &launch_function<math::BinaryCrossEntropy, math::Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::BinaryCrossEntropyOfLogit>() {
  return &launch_function<math::BinaryCrossEntropyOfLogit, math::Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::BinaryCrossEntropyGradient>() {
  return &launch_function<math::BinaryCrossEntropyGradient, math::Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::BinaryCrossEntropyOfLogitGradient>() {
  return &launch_function<math::BinaryCrossEntropyOfLogitGradient, math::Domain::floats>;
}

}  // namespace gpubench::cuda
