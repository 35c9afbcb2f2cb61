// Element-wise functions of one number, and the gradients of activations.
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/math/unary.h"

namespace gpubench::cuda {

template <>
ElementwiseLaunch elementwise_launch<math::Neg>() {
  return &launch_function<math::Neg, Domain::numbers>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Abs>() {
  return &launch_function<math::Abs, Domain::numbers>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Sign>() {
  return &launch_function<math::Sign, Domain::numbers>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Square>() {
  return &launch_function<math::Square, Domain::numbers>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Sqrt>() {
  return &launch_function<math::Sqrt, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Rsqrt>() {
  return &launch_function<math::Rsqrt, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Exp>() {
  return &launch_function<math::Exp, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Log>() {
  return &launch_function<math::Log, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Floor>() {
  return &launch_function<math::Floor, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Relu>() {
  return &launch_function<math::Relu, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Sigmoid>() {
  return &launch_function<math::Sigmoid, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Tanh>() {
  return &launch_function<math::Tanh, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Gelu>() {
  return &launch_function<math::Gelu, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::ReluGradient>() {
  return &launch_function<math::ReluGradient, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::SigmoidGradient>() {
  return &launch_function<math::SigmoidGradient, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::TanhGradient>() {
  return &launch_function<math::TanhGradient, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::GeluGradient>() {
  return &launch_function<math::GeluGradient, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::GeluTanh>() {
  return &launch_function<math::GeluTanh, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::GeluTanhGradient>() {
  return &launch_function<math::GeluTanhGradient, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::LogicalNot>() {
  return &launch_function<math::LogicalNot, Domain::bools>;
}

}  // namespace gpubench::cuda
