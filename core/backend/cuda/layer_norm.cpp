#include "core/backend/cuda/kernels/layer_norm.h"

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/status.h"
#include "core/ops/layer_norm.h"

namespace gpubench::cuda {
namespace {

LayerNormShape row_norm_shape(const Op& op, const Signature& signature, bool centered, float epsilon, Device& device) {
  const TensorType& x = signature.inputs[0];
  require_floating(op, x);
  LayerNormShape shape{.channels = x.shape.back(),
                       .epsilon = epsilon,
                       .centered = centered,
                       .dtype = x.dtype,
                       .parameters = signature.inputs[1].dtype};
  shape.rows = x.elements() / shape.channels;
  shape.parts = layer_norm_parts(shape, cuda_device(device).properties().multiprocessors);
  return shape;
}

std::unique_ptr<Kernel> plan_layer_norm(const LayerNorm& op, const Signature& signature, Device& device) {
  const LayerNormShape shape = row_norm_shape(op, signature, true, op.epsilon, device);
  return launch_kernel(op, device, [shape](const LaunchOn& on, Views inputs, Views outputs) {
    const LayerNormForward memory{.x = inputs[0].data,
                                  .gamma = inputs[1].data,
                                  .beta = inputs[2].data,
                                  .y = outputs[0].data,
                                  .mean = outputs[1].as<float>(),
                                  .inverse = outputs[2].as<float>()};
    return launch_layer_norm(on, shape, memory);
  });
}

std::unique_ptr<Kernel> plan_rms_norm(const RmsNorm& op, const Signature& signature, Device& device) {
  const LayerNormShape shape = row_norm_shape(op, signature, false, op.epsilon, device);
  return launch_kernel(op, device, [shape](const LaunchOn& on, Views inputs, Views outputs) {
    const LayerNormForward memory{.x = inputs[0].data,
                                  .gamma = inputs[1].data,
                                  .beta = nullptr,
                                  .y = outputs[0].data,
                                  .mean = nullptr,
                                  .inverse = outputs[1].as<float>()};
    return launch_layer_norm(on, shape, memory);
  });
}

std::unique_ptr<Kernel> plan_layer_norm_gradient(const LayerNormGradient& op, const Signature& signature,
                                                 Device& device) {
  const LayerNormShape shape = row_norm_shape(op, signature, true, 0, device);
  return launch_kernel(
      op, device,
      [shape](const LaunchOn& on, Views inputs, Views outputs, std::span<std::byte> workspace) {
        const LayerNormBackward memory{.x = inputs[0].data,
                                       .gamma = inputs[1].data,
                                       .dy = inputs[4].data,
                                       .mean = inputs[2].as<float>(),
                                       .inverse = inputs[3].as<float>(),
                                       .dx = outputs[0].data,
                                       .dgamma = outputs[1].data,
                                       .dbeta = outputs[2].data};
        return launch_layer_norm_gradient(on, shape, memory, reinterpret_cast<float*>(workspace.data()));
      },
      layer_norm_workspace(shape));
}

std::unique_ptr<Kernel> plan_rms_norm_gradient(const RmsNormGradient& op, const Signature& signature, Device& device) {
  const LayerNormShape shape = row_norm_shape(op, signature, false, 0, device);
  return launch_kernel(
      op, device,
      [shape](const LaunchOn& on, Views inputs, Views outputs, std::span<std::byte> workspace) {
        const LayerNormBackward memory{.x = inputs[0].data,
                                       .gamma = inputs[1].data,
                                       .dy = inputs[3].data,
                                       .mean = nullptr,
                                       .inverse = inputs[2].as<float>(),
                                       .dx = outputs[0].data,
                                       .dgamma = outputs[1].data,
                                       .dbeta = nullptr};
        return launch_layer_norm_gradient(on, shape, memory, reinterpret_cast<float*>(workspace.data()));
      },
      layer_norm_workspace(shape));
}

}  // namespace

void add_layer_norm(KernelTable& table) {
  add_row<&plan_layer_norm>(table);
  add_row<&plan_layer_norm_gradient>(table);
  add_row<&plan_rms_norm>(table);
  add_row<&plan_rms_norm_gradient>(table);
}

}  // namespace gpubench::cuda
