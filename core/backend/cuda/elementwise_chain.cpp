#include "core/backend/cuda/elementwise_chain.h"

#include "core/backend/cuda/kernels/elementwise_chain.h"
#include "core/backend/cuda/launch_kernel.h"

namespace gpubench::cuda {

static_assert(max_chain_inputs == ElementwiseChain::max_inputs && max_chain_steps == ElementwiseChain::max_steps);

std::unique_ptr<Kernel> plan_elementwise_chain(const ElementwiseChain& op, const Signature& signature, Device& device) {
  ChainProgram program;
  const TensorType& output = signature.outputs[0];
  program.elements = output.elements();
  program.output_type = output.dtype;
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

}  // namespace gpubench::cuda
