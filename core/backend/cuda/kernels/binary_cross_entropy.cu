// Binary cross-entropy and its gradient, element by element.
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/math/loss.h"

namespace gpubench::cuda {

template <>
ElementwiseLaunch elementwise_launch<math::BinaryCrossEntropy>() {
  return &launch_function<math::BinaryCrossEntropy, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::BinaryCrossEntropyOfLogit>() {
  return &launch_function<math::BinaryCrossEntropyOfLogit, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::BinaryCrossEntropyGradient>() {
  return &launch_function<math::BinaryCrossEntropyGradient, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::BinaryCrossEntropyOfLogitGradient>() {
  return &launch_function<math::BinaryCrossEntropyOfLogitGradient, Domain::floats>;
}

}  // namespace gpubench::cuda
