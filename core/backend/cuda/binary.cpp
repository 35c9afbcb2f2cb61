#include "core/backend/cuda/binary.h"

#include <array>

#include "core/backend/cuda/elementwise.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/math/binary.h"

namespace gpubench::cuda {
namespace {

/// The function that an op applies.
template <class O>
struct FunctionOf;
template <>
struct FunctionOf<Add> {
  using Type = math::Add;
};
template <>
struct FunctionOf<Sub> {
  using Type = math::Sub;
};
template <>
struct FunctionOf<Mul> {
  using Type = math::Mul;
};
template <>
struct FunctionOf<Div> {
  using Type = math::Div;
};
template <>
struct FunctionOf<Pow> {
  using Type = math::Pow;
};
template <>
struct FunctionOf<Maximum> {
  using Type = math::Maximum;
};
template <>
struct FunctionOf<Minimum> {
  using Type = math::Minimum;
};
template <>
struct FunctionOf<Equal> {
  using Type = math::Equal;
};
template <>
struct FunctionOf<NotEqual> {
  using Type = math::NotEqual;
};
template <>
struct FunctionOf<Less> {
  using Type = math::Less;
};
template <>
struct FunctionOf<LessEqual> {
  using Type = math::LessEqual;
};
template <>
struct FunctionOf<Greater> {
  using Type = math::Greater;
};
template <>
struct FunctionOf<GreaterEqual> {
  using Type = math::GreaterEqual;
};
template <>
struct FunctionOf<LogicalAnd> {
  using Type = math::LogicalAnd;
};
template <>
struct FunctionOf<LogicalOr> {
  using Type = math::LogicalOr;
};

}  // namespace

template <class O>
std::unique_ptr<Kernel> plan_binary(const O& op, const Signature& signature, Device& device) {
  return plan_elementwise(op, signature, device, elementwise_launch<typename FunctionOf<O>::Type>());
}

std::unique_ptr<Kernel> plan_select(const Select& op, const Signature& signature, Device& device) {
  return plan_elementwise(op, signature, device, &launch_select);
}

std::unique_ptr<Kernel> plan_add_n(const AddN& op, const Signature& signature, Device& device) {
  const TensorType& type = signature.outputs[0];
  const std::array pair{type, type};
  const ElementwiseAccess access = elementwise_access(op, {pair, signature.outputs});
  const ElementwiseLaunch add = elementwise_launch<math::Add>();
  return launch_kernel(op, device, [access, add](const LaunchOn& on, Views inputs, Views outputs) {
    // The output may be the memory of the first input, which is read first.
    const void* sum = inputs[0].data;
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      const std::array<const void*, 2> in{sum, inputs[i].data};
      if (const cudaError_t status = add(on, access, outputs[0].data, in.data()); status != cudaSuccess) return status;
      sum = outputs[0].data;
    }
    if (inputs.size() > 1 || sum == outputs[0].data) return cudaSuccess;
    return cudaMemcpyAsync(outputs[0].data, sum, inputs[0].type->bytes(), cudaMemcpyDeviceToDevice, on.stream);
  });
}

template std::unique_ptr<Kernel> plan_binary(const Add&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Sub&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Mul&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Div&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Pow&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Maximum&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Minimum&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Equal&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const NotEqual&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Less&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const LessEqual&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const Greater&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const GreaterEqual&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const LogicalAnd&, const Signature&, Device&);
template std::unique_ptr<Kernel> plan_binary(const LogicalOr&, const Signature&, Device&);

}  // namespace gpubench::cuda
