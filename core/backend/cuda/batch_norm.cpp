// Kernels of our own: cuDNN's batch norm gives the inverse deviation, or a variance that is not the biased one, where
// the op wants the variance; takes float32 parameters only; promises nothing for results in an input's memory; has no
// gradient with given statistics; and is deprecated since cuDNN 9.
#include "core/backend/cuda/kernels/batch_norm.h"

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/status.h"
#include "core/ops/batch_norm.h"

namespace gpubench::cuda {
namespace {

BatchNormShape norm_shape(const Op& op, const Signature& signature, float epsilon, Device& device) {
  const TensorType& x = signature.inputs[0];
  require_floating(op, x);
  BatchNormShape shape{
      .channels = x.shape.back(), .epsilon = epsilon, .dtype = x.dtype, .parameters = signature.inputs[1].dtype};
  shape.rows = shape.channels == 0 ? 0 : x.elements() / shape.channels;
  shape.parts = batch_norm_parts(shape, cuda_device(device).properties().multiprocessors);
  return shape;
}

float* floats(std::span<std::byte> workspace) {
  return reinterpret_cast<float*>(workspace.data());
}

std::unique_ptr<Kernel> plan_norm_gradient(const Op& op, const Signature& signature, float epsilon,
                                           bool statistics_depend_on_x, NormEpilogue epilogue, Device& device) {
  const BatchNormShape shape = norm_shape(op, signature, epsilon, device);
  return launch_kernel(
      op, device,
      [shape, statistics_depend_on_x, epilogue](const LaunchOn& on, Views inputs, Views outputs,
                                                std::span<std::byte> workspace) {
        const BatchNormBackward memory{.x = inputs[0].data,
                                       .gamma = inputs[1].data,
                                       .mean = inputs[2].data,
                                       .variance = inputs[3].data,
                                       .dy = inputs[4].data,
                                       .dx = outputs[0].data,
                                       .dgamma = outputs[1].data,
                                       .dbeta = outputs[2].data,
                                       .beta = epilogue == NormEpilogue::relu ? inputs[5].data : nullptr,
                                       .y = epilogue == NormEpilogue::add_relu ? inputs[5].data : nullptr,
                                       .dshortcut = epilogue == NormEpilogue::add_relu ? outputs[3].data : nullptr};
        return launch_batch_norm_gradient(on, shape, memory, statistics_depend_on_x, floats(workspace));
      },
      batch_norm_workspace(shape));
}

std::unique_ptr<Kernel> plan_batch_norm(const BatchNorm& op, const Signature& signature, Device& device) {
  const BatchNormShape shape = norm_shape(op, signature, op.epsilon, device);
  return launch_kernel(
      op, device,
      [shape, epilogue = op.epilogue](const LaunchOn& on, Views inputs, Views outputs, std::span<std::byte> workspace) {
        const BatchNormForward memory{.x = inputs[0].data,
                                      .gamma = inputs[1].data,
                                      .beta = inputs[2].data,
                                      .y = outputs[0].data,
                                      .mean = outputs[1].data,
                                      .variance = outputs[2].data,
                                      .shortcut = epilogue == NormEpilogue::add_relu ? inputs[3].data : nullptr,
                                      .relu = epilogue != NormEpilogue::none};
        return launch_batch_norm(on, shape, memory, floats(workspace));
      },
      batch_norm_workspace(shape));
}

std::unique_ptr<Kernel> plan_batch_norm_gradient(const BatchNormGradient& op, const Signature& signature,
                                                 Device& device) {
  return plan_norm_gradient(op, signature, op.epsilon, true, op.epilogue, device);
}

std::unique_ptr<Kernel> plan_batch_norm_inference(const BatchNormInference& op, const Signature& signature,
                                                  Device& device) {
  const BatchNormShape shape = norm_shape(op, signature, op.epsilon, device);
  return launch_kernel(op, device, [shape](const LaunchOn& on, Views inputs, Views outputs) {
    const BatchNormInferenceForward memory{.x = inputs[0].data,
                                           .gamma = inputs[1].data,
                                           .beta = inputs[2].data,
                                           .mean = inputs[3].data,
                                           .variance = inputs[4].data,
                                           .y = outputs[0].data};
    return launch_batch_norm_inference(on, shape, memory);
  });
}

std::unique_ptr<Kernel> plan_batch_norm_inference_gradient(const BatchNormInferenceGradient& op,
                                                           const Signature& signature, Device& device) {
  return plan_norm_gradient(op, signature, op.epsilon, false, NormEpilogue::none, device);
}

}  // namespace

void add_batch_norm(KernelTable& table) {
  add_row<&plan_batch_norm>(table);
  add_row<&plan_batch_norm_gradient>(table);
  add_row<&plan_batch_norm_inference>(table);
  add_row<&plan_batch_norm_inference_gradient>(table);
}

}  // namespace gpubench::cuda
