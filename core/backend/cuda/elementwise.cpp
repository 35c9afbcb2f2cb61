#include "core/backend/cuda/elementwise.h"

#include <array>

#include "core/backend/broadcast_plan.h"
#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/kernels/elementwise.h"
#include "core/backend/cuda/kernels/elementwise_chain.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/status.h"
#include "core/backend/kernel_table.h"
#include "core/graph/leaf_ops.h"
#include "core/math/functions.h"
#include "core/ops/bias.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/elementwise_chain.h"

namespace gpubench::cuda {
namespace {

static_assert(max_merged_rank == max_rank);

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

std::unique_ptr<Kernel> plan_cast(const Cast& op, const Signature& signature, Device& device) {
  return plan_elementwise(op, signature, device, &launch_cast);
}

std::unique_ptr<Kernel> plan_cast_all(const CastAll& op, const Signature&, Device& device) {
  return launch_kernel(op, device, [](const LaunchOn& on, Views inputs, Views outputs) {
    for (std::size_t begin = 0; begin < inputs.size(); begin += cast_capacity) {
      CastTensors tensors;
      tensors.type = outputs[begin].type->dtype;
      tensors.count = static_cast<int>(std::min<std::size_t>(inputs.size() - begin, cast_capacity));
      for (std::size_t i = 0; i < static_cast<std::size_t>(tensors.count); ++i) {
        tensors.elements[i] = inputs[begin + i].elements();
        tensors.from[i] = inputs[begin + i].as<float>();
        tensors.to[i] = outputs[begin + i].data;
      }
      if (const cudaError_t status = launch_cast_all(on, tensors); status != cudaSuccess) return status;
    }
    return cudaSuccess;
  });
}

std::unique_ptr<Kernel> plan_bias_add(const BiasAdd& op, const Signature& signature, Device& device) {
  const TensorType& x = signature.inputs[0];
  require_floating(op, x);
  return launch_kernel(op, device,
                       [elements = x.elements(), channels = x.shape.back(), type = x.dtype](
                           const LaunchOn& on, Views inputs, Views outputs) {
                         return launch_bias_add(on, elements, channels, type, outputs[0].data, inputs[0].data,
                                                inputs[1].data);
                       });
}

static_assert(max_chain_inputs == ElementwiseChain::max_inputs && max_chain_steps == ElementwiseChain::max_steps);

std::unique_ptr<Kernel> plan_elementwise_chain(const ElementwiseChain& op, const Signature& signature, Device& device) {
  ChainProgram program;
  const TensorType& output = signature.outputs[0];
  program.elements = output.elements();
  program.output_type = output.dtype;
  program.input_count = static_cast<int>(signature.inputs.size());
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    const Stretch stretch = *ops::stretch_of(signature.inputs[i].shape, output.shape);
    program.inputs[i] = {stretch.repeat, stretch.period, signature.inputs[i].dtype};
  }
  for (const ChainStep& step : op.steps) {
    program.steps[program.count++] = {step.function, static_cast<std::int8_t>(step.operand), step.reversed};
  }
  return launch_kernel(op, device, [program](const LaunchOn& on, Views inputs, Views outputs) {
    ChainMemory memory;
    for (std::size_t i = 0; i < inputs.size(); ++i) memory.inputs[i] = inputs[i].data;
    memory.output = outputs[0].data;
    return launch_chain(on, program, memory);
  });
}

}  // namespace

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

void add_elementwise(KernelTable& table) {
#define GPUBENCH_ROW(Kind, name, Type, domain, cost, flops) table.emplace(typeid(Type), &plan_function<math::Type>);
  GPUBENCH_ELEMENTWISE_FUNCTIONS(GPUBENCH_ROW)
#undef GPUBENCH_ROW
  add_row<&plan_add_n>(table);
  add_row<&plan_select>(table);
  add_row<&plan_cast>(table);
  add_row<&plan_cast_all>(table);
  add_row<&plan_bias_add>(table);
  add_row<&plan_elementwise_chain>(table);
}

}  // namespace gpubench::cuda
