// Kernels of our own: cuDNN's pooling says not which element won, finds its gradient from the image instead, and pads
// both sides alike.
#include "core/backend/cuda/pool.h"

#include <algorithm>
#include <limits>

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/status.h"

namespace gpubench::cuda {

PoolGeometry pool_geometry(const Op& op, const Pool2DAttributes& options, const TensorType& image, Dtype winner) {
  require_floating(op, image);
  const auto axes = slide(op.name(), options, image.shape);
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  const std::int64_t window_end = std::max(image.shape[1] + options.size[0] + options.strides[0],
                                           image.shape[2] + options.size[1] + options.strides[1]);
  if (image.shape[1] * image.shape[2] * image.shape[3] > most || window_end > most ||
      options.size[0] * options.size[1] > most) {
    refuse(op, "an image or a window of more than 2147483647 elements");
  }
  PoolGeometry pool{.batch = image.shape[0],
                    .height = static_cast<int>(image.shape[1]),
                    .width = static_cast<int>(image.shape[2]),
                    .channels = static_cast<int>(image.shape[3]),
                    .out_height = static_cast<int>(axes[0].outputs),
                    .out_width = static_cast<int>(axes[1].outputs),
                    .dtype = image.dtype,
                    .winner = winner};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    pool.size[i] = static_cast<int>(options.size[i]);
    pool.strides[i] = static_cast<int>(options.strides[i]);
    pool.before[i] = static_cast<int>(axes[i].padding_before);
  }
  return pool;
}

namespace {

std::unique_ptr<Kernel> plan_max_pool2d(const MaxPool2D& op, const Signature& signature, Device& device) {
  const PoolGeometry pool = pool_geometry(op, op.options, signature.inputs[0], signature.outputs[1].dtype);
  return launch_kernel(op, device, [pool](const LaunchOn& on, Views inputs, Views outputs) {
    return launch_max_pool(on, pool, outputs[0].data, outputs[1].data, inputs[0].data);
  });
}

std::unique_ptr<Kernel> plan_max_pool2d_gradient(const MaxPool2DGradient& op, const Signature& signature,
                                                 Device& device) {
  const PoolGeometry pool = pool_geometry(op, op.options, signature.outputs[0], signature.inputs[1].dtype);
  return launch_kernel(op, device, [pool](const LaunchOn& on, Views inputs, Views outputs) {
    return launch_max_pool_gradient(on, pool, outputs[0].data, inputs[0].data, inputs[1].data);
  });
}

std::unique_ptr<Kernel> plan_average_pool2d(const AveragePool2D& op, const Signature& signature, Device& device) {
  const PoolGeometry pool = pool_geometry(op, op.options, signature.inputs[0]);
  return launch_kernel(op, device, [pool](const LaunchOn& on, Views inputs, Views outputs) {
    return launch_average_pool(on, pool, outputs[0].data, inputs[0].data);
  });
}

std::unique_ptr<Kernel> plan_average_pool2d_gradient(const AveragePool2DGradient& op, const Signature& signature,
                                                     Device& device) {
  const PoolGeometry pool = pool_geometry(op, op.options, signature.outputs[0]);
  return launch_kernel(op, device, [pool](const LaunchOn& on, Views inputs, Views outputs) {
    return launch_average_pool_gradient(on, pool, outputs[0].data, inputs[0].data);
  });
}

}  // namespace

void add_pool(KernelTable& table) {
  add_row<&plan_max_pool2d>(table);
  add_row<&plan_max_pool2d_gradient>(table);
  add_row<&plan_average_pool2d>(table);
  add_row<&plan_average_pool2d_gradient>(table);
}

}  // namespace gpubench::cuda
