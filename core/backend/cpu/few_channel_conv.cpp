#include "core/backend/cpu/few_channel_conv.h"

#include <algorithm>
#include <cstddef>

#include "core/backend/cpu/few_channel_conv_loops.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/pool_loops.h"
#include "core/device/device.h"

namespace gpubench::cpu {
namespace {

constexpr std::int64_t most_channels = 4, most_taps = 32;

/// The workspace: for each thread an image with its border, `sums` floats, and `spare` floats for one image's results.
struct Workspace {
  std::int64_t border = 0, sums = 0, spare = 0;

  struct Part {
    float *border, *sums, *spare;
  };
  Part of(std::span<std::byte> memory, int thread) const {
    float* const first = reinterpret_cast<float*>(memory.data()) + thread * (border + sums + spare);
    return {first, first + border, first + border + sums};
  }
  std::size_t bytes(int threads) const {
    return static_cast<std::size_t>(threads * (border + sums + spare)) * sizeof(float);
  }
};

/// Calls each(image, its elements with a border, the thread's part of the workspace) in the device's threads.
template <class Each>
void for_each_bordered_image(const FewChannelGeometry& g, const Workspace& workspace, std::span<std::byte> memory,
                             const float* images, const Each& each) {
  parallel_ranges(g.threads, g.batch, [&](int thread, std::int64_t begin, std::int64_t end) {
    const Workspace::Part part = workspace.of(memory, thread);
    for (std::int64_t image = begin; image < end; ++image) each(image, g.bordered(images, image, part.border), part);
  });
}

FewChannelEpilogue epilogue_of(const Conv2DAttributes& options, Views inputs) {
  return {options.bias ? inputs[2].as<float>() : nullptr, options.activation == Activation::relu};
}

/// Sums each(image, bordered image, part), which adds to part.sums, over all images and threads.
template <class Each>
void sum_over_images(const FewChannelGeometry& g, const Workspace& workspace, std::span<std::byte> memory,
                     const float* images, float* dfilter, const Each& each) {
  for (int thread = 0; thread < g.threads; ++thread) {
    std::fill_n(workspace.of(memory, thread).sums, g.filter_elements(), 0.0F);
  }
  for_each_bordered_image(g, workspace, memory, images, each);
  for (std::int64_t i = 0; i < g.filter_elements(); ++i) {
    float sum = 0;
    for (int thread = 0; thread < g.threads; ++thread) sum += workspace.of(memory, thread).sums[i];
    dfilter[i] = sum;
  }
}

template <class Winner>
std::unique_ptr<Kernel> plan_pooled(const Conv2DMaxPool& op, const FewChannelGeometry& g, const PoolWindow& window) {
  const Workspace workspace{.border = g.copy_elements(), .spare = g.result_elements()};
  return loop_kernel(
      [g, window, workspace, options = op.conv](Views inputs, Views outputs, std::span<std::byte> memory) {
        const float* const filter = inputs[1].as<float>();
        const FewChannelEpilogue epilogue = epilogue_of(options, inputs);
        float* const y = outputs[0].as<float>();
        Winner* const winners = outputs[1].as<Winner>();
        for_each_bordered_image(g, workspace, memory, inputs[0].as<float>(),
                                [&](std::int64_t image, const float* x, const Workspace::Part& part) {
                                  const std::int64_t to = image * window.result_elements();
                                  convolve_few_channels(g, x, filter, epilogue, part.spare);
                                  max_pool_rows(window, 0, window.out_height, part.spare, y + to, winners + to);
                                });
      },
      workspace.bytes(g.threads));
}

template <class Winner>
std::unique_ptr<Kernel> plan_pooled_gradient(const FewChannelGeometry& g, const PoolWindow& window) {
  const Workspace workspace{.border = g.copy_elements(), .sums = g.filter_elements(), .spare = g.result_elements()};
  return loop_kernel(
      [g, window, workspace](Views inputs, Views outputs, std::span<std::byte> memory) {
        const float* const dy = inputs[1].as<float>();
        const Winner* const winners = inputs[2].as<Winner>();
        sum_over_images(g, workspace, memory, inputs[0].as<float>(), outputs[0].as<float>(),
                        [&](std::int64_t image, const float* x, const Workspace::Part& part) {
                          const std::int64_t from = image * window.result_elements();
                          max_pool_gradient(window, dy + from, winners + from, part.spare);
                          correlate_few_channels(g, x, part.spare, part.sums);
                        });
      },
      workspace.bytes(g.threads));
}

}  // namespace

bool few_channel_conv_applies(const Conv2DAttributes& options, const TensorType& image, const Shape& filter) {
  const bool simple = options.activation == Activation::none || options.activation == Activation::relu;
  return image.dtype == Dtype::f32 && options.groups == 1 && simple && filter[2] <= most_channels &&
         filter[3] % lane_count == 0 && filter[0] * filter[1] * filter[2] <= most_taps && image.elements() > 0;
}

std::unique_ptr<Kernel> plan_few_channel_conv2d(const Conv2D& op, const Signature& signature, Device& device) {
  device.bind_to_thread();
  const FewChannelGeometry g(op.name(), op.options, signature.inputs[0].shape, signature.inputs[1].shape);
  const Workspace workspace{.border = g.copy_elements()};
  return loop_kernel(
      [g, workspace, options = op.options](Views inputs, Views outputs, std::span<std::byte> memory) {
        const float* const filter = inputs[1].as<float>();
        const FewChannelEpilogue epilogue = epilogue_of(options, inputs);
        float* const y = outputs[0].as<float>();
        for_each_bordered_image(g, workspace, memory, inputs[0].as<float>(),
                                [&](std::int64_t image, const float* x, const Workspace::Part&) {
                                  convolve_few_channels(g, x, filter, epilogue, y + image * g.result_elements());
                                });
      },
      workspace.bytes(g.threads));
}

std::unique_ptr<Kernel> plan_few_channel_conv2d_filter_gradient(const Conv2DFilterGradient& op,
                                                                const Signature& signature, Device& device) {
  device.bind_to_thread();
  const FewChannelGeometry g(op.name(), op.options, signature.inputs[0].shape, signature.outputs[0].shape);
  const Workspace workspace{.border = g.copy_elements(), .sums = g.filter_elements()};
  return loop_kernel(
      [g, workspace](Views inputs, Views outputs, std::span<std::byte> memory) {
        const float* const dy = inputs[1].as<float>();
        sum_over_images(g, workspace, memory, inputs[0].as<float>(), outputs[0].as<float>(),
                        [&](std::int64_t image, const float* x, const Workspace::Part& part) {
                          correlate_few_channels(g, x, dy + image * g.result_elements(), part.sums);
                        });
      },
      workspace.bytes(g.threads));
}

std::unique_ptr<Kernel> plan_few_channel_conv2d_max_pool(const Conv2DMaxPool& op, const Signature& signature,
                                                         Device& device) {
  device.bind_to_thread();
  const FewChannelGeometry g(op.name(), op.conv, signature.inputs[0].shape, signature.inputs[1].shape);
  const PoolWindow window(op.name(), op.pool, op.convolved(signature.inputs).shape);
  if (signature.outputs[1].dtype == Dtype::u8) return plan_pooled<std::uint8_t>(op, g, window);
  return plan_pooled<std::int32_t>(op, g, window);
}

std::unique_ptr<Kernel> plan_few_channel_conv2d_max_pool_filter_gradient(const Conv2DMaxPoolFilterGradient& op,
                                                                         const Signature& signature, Device& device) {
  device.bind_to_thread();
  const FewChannelGeometry g(op.name(), op.conv, signature.inputs[0].shape, op.filter_shape);
  const PoolWindow window(op.name(), op.pool, op.spread(signature.inputs[0]).shape);
  if (signature.inputs[2].dtype == Dtype::u8) return plan_pooled_gradient<std::uint8_t>(g, window);
  return plan_pooled_gradient<std::int32_t>(g, window);
}

}  // namespace gpubench::cpu
