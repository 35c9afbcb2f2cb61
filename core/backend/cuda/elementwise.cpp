#include "core/backend/cuda/elementwise.h"

#include <array>

#include "core/backend/broadcast_plan.h"
#include "core/backend/cuda/launch_kernel.h"

namespace gpubench::cuda {

static_assert(max_merged_rank == max_rank);

ElementwiseAccess elementwise_access(const Op& op, const Signature& signature) {
  ElementwiseAccess access;
  Shape shape = signature.outputs[0].shape;
  std::array<Strides, max_arity> strides;
  const std::size_t inputs = signature.inputs.size();
  for (std::size_t i = 0; i < inputs; ++i) {
    strides[i] = stretched_strides(signature.inputs[i].shape, shape);
    access.input_types[i] = signature.inputs[i].dtype;
  }
  access.elements = signature.outputs[0].elements();
  access.output_type = signature.outputs[0].dtype;
  merge_dimensions(op.name(), shape, std::span(strides).first(inputs));
  if (shape.empty()) return access;
  access.rank = static_cast<int>(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    access.extent[d] = shape[d];
    for (std::size_t i = 0; i < inputs; ++i) access.stride[i][d] = strides[i][d];
  }
  return access;
}

std::unique_ptr<Kernel> plan_elementwise(const Op& op, const Signature& signature, Device& device,
                                         ElementwiseLaunch launch) {
  return launch_kernel(
      op, device,
      [access = elementwise_access(op, signature), launch](const LaunchOn& on, Views inputs, Views outputs) {
        std::array<const void*, max_arity> in{};
        for (std::size_t i = 0; i < inputs.size(); ++i) in[i] = inputs[i].data;
        return launch(on, access, outputs[0].data, in.data());
      });
}

}  // namespace gpubench::cuda
