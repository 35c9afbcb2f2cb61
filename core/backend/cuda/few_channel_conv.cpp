#include "core/backend/cuda/few_channel_conv.h"

#include <optional>

#include "core/backend/cuda/cuda_device.h"
#include "core/backend/cuda/kernels/few_channel_conv.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/pool.h"

namespace gpubench::cuda {
namespace {

/// With more, the taps of a window are many, and tensor cores have work.
constexpr std::int64_t few_channels = 4;

/// nullopt for a convolution that these kernels are not made for. `filter`: [height, width, channels, filters].
std::optional<FewChannelConv> few_channel_conv(const Op& op, const Conv2DAttributes& options, const TensorType& x,
                                               const Shape& filter) {
  if (options.groups != 1 || x.shape[3] > few_channels || !is_floating(x.dtype)) return std::nullopt;
  if (filter[0] * filter[1] * filter[2] > most_taps) return std::nullopt;
  const auto axes = slide(op.name(), options, x.shape, filter);
  const std::int64_t image = x.shape[1] * x.shape[2] * x.shape[3];
  if (image > most_positions || x.shape[0] * axes[0].outputs * axes[1].outputs > most_positions) return std::nullopt;
  if (x.elements() == 0 || filter[3] == 0) return std::nullopt;
  FewChannelConv conv{.batch = x.shape[0],
                      .height = static_cast<int>(x.shape[1]),
                      .width = static_cast<int>(x.shape[2]),
                      .channels = static_cast<int>(x.shape[3]),
                      .out_height = static_cast<int>(axes[0].outputs),
                      .out_width = static_cast<int>(axes[1].outputs),
                      .filters = static_cast<int>(filter[3]),
                      .dtype = x.dtype};
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    conv.size[axis] = static_cast<int>(filter[axis]);
    conv.strides[axis] = static_cast<int>(options.strides[axis]);
    conv.dilations[axis] = static_cast<int>(options.dilations[axis]);
    conv.before[axis] = static_cast<int>(axes[axis].padding_before);
  }
  return conv;
}

bool is_small(const Pool2DAttributes& pool) {
  return pool.size[0] * pool.size[1] <= most_window_elements;
}

std::optional<PooledActivation> pooled(Activation activation) {
  switch (activation) {
    case Activation::none:
      return PooledActivation::none;
    case Activation::relu:
      return PooledActivation::relu;
    case Activation::sigmoid:
      return PooledActivation::sigmoid;
    case Activation::tanh:
      return PooledActivation::tanh;
    default:
      return std::nullopt;
  }
}

std::size_t workspace_of(const FewChannelConv& conv, const TensorType& dy, Device& device) {
  const std::int64_t positions = dy.elements() / conv.filters;
  return filter_sum_bytes(conv, positions, cuda_device(device).properties().multiprocessors);
}

float* sums_in(std::span<std::byte> workspace) {
  return reinterpret_cast<float*>(workspace.data());
}

/// nullopt where they do not compute the op.
std::optional<FewChannelConv> pooled_conv(const Conv2DMaxPool& op, TensorTypes inputs) {
  if (!pooled(op.conv.activation) || !is_small(op.pool)) return std::nullopt;
  const auto conv = few_channel_conv(op, op.conv, inputs[0], filter_extents(op.conv, inputs[1].shape));
  const bool fits = conv && PooledPatch(*conv, op.pool.size[0], op.pool.size[1]).elements(*conv) <= most_patch_elements;
  return fits ? conv : std::nullopt;
}

}  // namespace

bool is_few_channel_max_pool(const Conv2DMaxPool& op, TensorTypes inputs) {
  return pooled_conv(op, inputs).has_value();
}

std::unique_ptr<Kernel> few_channel_max_pool(const Conv2DMaxPool& op, const Signature& signature, Device& device) {
  const std::optional<FewChannelConv> conv = pooled_conv(op, signature.inputs);
  if (!conv || op.conv.turned) return nullptr;
  const std::optional<PooledActivation> activation = pooled(op.conv.activation);
  const PoolGeometry pool = pool_geometry(op, op.pool, op.convolved(signature.inputs), signature.outputs[1].dtype);
  return launch_kernel(op, device,
                       [conv = *conv, pool, activation = *activation](const LaunchOn& on, Views in, Views out) {
                         return launch_conv_max_pool(on, conv, pool, activation, out[0].data, out[1].as<std::uint8_t>(),
                                                     in[0].data, in[1].data, in.size() > 2 ? in[2].data : nullptr);
                       });
}

std::unique_ptr<Kernel> few_channel_filter_gradient(const Conv2DMaxPoolFilterGradient& op, const Signature& signature,
                                                    Device& device) {
  const TensorType &x = signature.inputs[0], &dy = signature.inputs[1];
  const std::optional<FewChannelConv> conv = few_channel_conv(op, op.conv, x, op.filter_shape);
  if (!conv || !is_small(op.pool)) return nullptr;
  const PoolGeometry pool = pool_geometry(op, op.pool, op.spread(x), signature.inputs[2].dtype);
  return launch_kernel(
      op, device,
      [conv = *conv, pool](const LaunchOn& on, Views in, Views out, std::span<std::byte> workspace) {
        return launch_pooled_filter_gradient(on, conv, pool, out[0].data, sums_in(workspace), in[0].data, in[1].data,
                                             in[2].as<std::uint8_t>());
      },
      workspace_of(*conv, dy, device));
}

std::unique_ptr<Kernel> few_channel_filter_gradient(const Conv2DFilterGradient& op, const Signature& signature,
                                                    Device& device) {
  const TensorType &x = signature.inputs[0], &dy = signature.inputs[1];
  if (x.dtype != Dtype::f32 || cuda_device(device).allows_tf32()) return nullptr;
  const std::optional<FewChannelConv> conv = few_channel_conv(op, op.options, x, op.filter_shape);
  if (!conv) return nullptr;
  return launch_kernel(
      op, device,
      [conv = *conv](const LaunchOn& on, Views in, Views out, std::span<std::byte> workspace) {
        return launch_filter_gradient(on, conv, out[0].data, sums_in(workspace), in[0].data, in[1].data);
      },
      workspace_of(*conv, dy, device));
}

}  // namespace gpubench::cuda
