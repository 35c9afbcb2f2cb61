// Element-wise functions of two values, and the choice between two.
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/math/binary.h"

namespace gpubench::cuda {

template <>
ElementwiseLaunch elementwise_launch<math::Add>() {
  return &launch_function<math::Add, Domain::numbers>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Sub>() {
  return &launch_function<math::Sub, Domain::numbers>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Mul>() {
  return &launch_function<math::Mul, Domain::numbers>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Maximum>() {
  return &launch_function<math::Maximum, Domain::numbers>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Minimum>() {
  return &launch_function<math::Minimum, Domain::numbers>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Div>() {
  return &launch_function<math::Div, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Pow>() {
  return &launch_function<math::Pow, Domain::floats>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Equal>() {
  return &launch_function<math::Equal, Domain::numbers_and_bool>;
}
template <>
ElementwiseLaunch elementwise_launch<math::NotEqual>() {
  return &launch_function<math::NotEqual, Domain::numbers_and_bool>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Less>() {
  return &launch_function<math::Less, Domain::numbers_and_bool>;
}
template <>
ElementwiseLaunch elementwise_launch<math::LessEqual>() {
  return &launch_function<math::LessEqual, Domain::numbers_and_bool>;
}
template <>
ElementwiseLaunch elementwise_launch<math::Greater>() {
  return &launch_function<math::Greater, Domain::numbers_and_bool>;
}
template <>
ElementwiseLaunch elementwise_launch<math::GreaterEqual>() {
  return &launch_function<math::GreaterEqual, Domain::numbers_and_bool>;
}
template <>
ElementwiseLaunch elementwise_launch<math::LogicalAnd>() {
  return &launch_function<math::LogicalAnd, Domain::bools>;
}
template <>
ElementwiseLaunch elementwise_launch<math::LogicalOr>() {
  return &launch_function<math::LogicalOr, Domain::bools>;
}

namespace {

// Moves bits, whatever they mean.
template <class Bits>
__global__ void select_kernel(ElementwiseAccess access, Bits* out, const bool* condition, const Bits* a,
                              const Bits* b) {
  for_each_element<3>(access, [&](std::int64_t i, const std::int64_t* offset) {
    out[i] = condition[offset[0]] ? a[offset[1]] : b[offset[2]];
  });
}

}  // namespace

cudaError_t launch_select(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* const* in) {
  if (access.elements == 0) return cudaSuccess;
  return with_bits(size_of(access.output_type), [&]<class Bits>() {
    return launch(on, blocks_for(on, access.elements, block_threads * pack_size), block_threads, &select_kernel<Bits>,
                  access, static_cast<Bits*>(out), static_cast<const bool*>(in[0]), static_cast<const Bits*>(in[1]),
                  static_cast<const Bits*>(in[2]));
  });
}

}  // namespace gpubench::cuda
