#include "core/backend/cuda/binary.h"

#include <array>

#include "core/backend/cuda/elementwise.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/math/binary.h"
#include "core/math/functions.h"
#include "core/math/unary.h"
#include "core/ops/unary.h"

namespace gpubench::cuda {

void add_binary(KernelTable& table) {
#define GPUBENCH_ROW(name, Type, domain, flops) table.emplace(typeid(Type), &plan_function<math::Type>);
  GPUBENCH_ARITHMETIC_FUNCTIONS(GPUBENCH_ROW)
  GPUBENCH_PREDICATES(GPUBENCH_ROW)
#undef GPUBENCH_ROW
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

}  // namespace gpubench::cuda
