// Convolution, its derivatives, and convolution with a max pool behind it: by loops of ours for few channels, by
// products of matrices for few positions, else by oneDNN's convolutions, channels last throughout. oneDNN's kernels for
// that order were measured against those for its own blocked one (AVX-512, 2 threads: 64 channels of 28x28, 3.9
// against 4.3 ms forward, 4.3 against 4.3 ms backward), so a layout of its own would not pay. oneDNN's filters are
// reordered at every run. A max pool is fused for few channels, else a kernel of its own.
#include "core/ops/conv.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/few_channel_conv.h"
#include "core/backend/cpu/few_position_conv.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/onednn_kernel.h"
#include "core/backend/cpu/widened.h"
#include "core/base/align.h"
#include "core/base/error.h"

namespace gpubench::cpu {
namespace {

ConvolutionWindow window_of(std::string_view op, const Conv2DAttributes& options, const Shape& image,
                            const Shape& filter) {
  return convolution_window(options.strides, options.dilations, slide(op, options, image, filter));
}

void refuse_turned(const Op& op, const Conv2DAttributes& options) {
  if (options.turned) throw Error("cpu: " + std::string(op.name()) + ": a turned filter is not supported");
}

std::unique_ptr<Kernel> plan_conv2d(const Conv2D& op, const Signature& signature, Device& device) {
  refuse_turned(op, op.options);
  if (needs_widening(signature)) return plan_widened<&plan_conv2d>(op, signature, device);
  const TensorType &x = signature.inputs[0], &filter = signature.inputs[1], &y = signature.outputs[0];
  if (few_channel_conv_applies(op.options, x, filter.shape)) return plan_few_channel_conv2d(op, signature, device);
  if (few_position_conv_applies(op.options, y, filter.shape)) return plan_few_position_conv2d(op, signature, device);
  auto kernel = std::make_unique<OneDnnKernel>(device);
  const auto filter_memory = filter_desc(op.name(), filter, op.options.groups);
  const auto bias = op.options.bias ? vector_desc(op.name(), signature.inputs[2]) : dnnl::memory::desc();
  const auto desc = describe_convolution(
      image_desc(op.name(), x), any_layout(filter_memory), op.options.bias ? &bias : nullptr, image_desc(op.name(), y),
      window_of(op.name(), op.options, x.shape, filter.shape), attributes_with(op.options.activation));
  const auto from = kernel->input(0, desc.src_desc());
  const auto weights = kernel->converted(kernel->input(1, filter_memory), desc.weights_desc());
  const auto to = kernel->output(0, desc.dst_desc());
  const dnnl::convolution_forward primitive(desc);
  if (op.options.bias) {
    kernel->add(desc, primitive,
                {{DNNL_ARG_SRC, from},
                 {DNNL_ARG_WEIGHTS, weights},
                 {DNNL_ARG_BIAS, kernel->input(2, bias)},
                 {DNNL_ARG_DST, to}});
  } else {
    kernel->add(desc, primitive, {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, to}});
  }
  return kernel;
}

std::unique_ptr<Kernel> plan_conv2d_input_gradient(const Conv2DInputGradient& op, const Signature& signature,
                                                   Device& device) {
  refuse_turned(op, op.options);
  if (needs_widening(signature)) return plan_widened<&plan_conv2d_input_gradient>(op, signature, device);
  const TensorType &dy = signature.inputs[0], &filter = signature.inputs[1], &dx = signature.outputs[0];
  if (few_position_conv_applies(op.options, dy, filter.shape)) {
    return plan_few_position_conv2d_input_gradient(op, signature, device);
  }
  auto kernel = std::make_unique<OneDnnKernel>(device);
  const auto filter_memory = filter_desc(op.name(), filter, op.options.groups);
  const auto desc = describe_convolution_input_gradient(image_desc(op.name(), dx), any_layout(filter_memory),
                                                        image_desc(op.name(), dy),
                                                        window_of(op.name(), op.options, dx.shape, filter.shape));
  const auto weights = kernel->converted(kernel->input(1, filter_memory), desc.weights_desc());
  kernel->add(desc, dnnl::convolution_backward_data(desc),
              {{DNNL_ARG_DIFF_DST, kernel->input(0, desc.diff_dst_desc())},
               {DNNL_ARG_WEIGHTS, weights},
               {DNNL_ARG_DIFF_SRC, kernel->output(0, desc.diff_src_desc())}});
  return kernel;
}

std::unique_ptr<Kernel> plan_conv2d_filter_gradient(const Conv2DFilterGradient& op, const Signature& signature,
                                                    Device& device) {
  if (needs_widening(signature)) return plan_widened<&plan_conv2d_filter_gradient>(op, signature, device);
  const TensorType &x = signature.inputs[0], &dy = signature.inputs[1], &dfilter = signature.outputs[0];
  if (few_channel_conv_applies(op.options, x, dfilter.shape))
    return plan_few_channel_conv2d_filter_gradient(op, signature, device);
  if (few_position_conv_applies(op.options, dy, dfilter.shape)) {
    return plan_few_position_conv2d_filter_gradient(op, signature, device);
  }
  auto kernel = std::make_unique<OneDnnKernel>(device);
  const auto filter_memory = filter_desc(op.name(), dfilter, op.options.groups);
  const auto desc = describe_convolution_filter_gradient(image_desc(op.name(), x), any_layout(filter_memory),
                                                         image_desc(op.name(), dy),
                                                         window_of(op.name(), op.options, x.shape, dfilter.shape));
  const auto to = kernel->output(0, filter_memory);
  const auto written = kernel->before(to, desc.diff_weights_desc());
  kernel->add(desc, dnnl::convolution_backward_weights(desc),
              {{DNNL_ARG_SRC, kernel->input(0, desc.src_desc())},
               {DNNL_ARG_DIFF_DST, kernel->input(1, desc.diff_dst_desc())},
               {DNNL_ARG_DIFF_WEIGHTS, written}});
  kernel->convert(written, to);
  return kernel;
}

constexpr std::size_t between_alignment = 64;

/// Two kernels with a tensor in the workspace between them: `first` makes it, `second` reads it.
class PooledConvolution final : public Kernel {
 public:
  PooledConvolution(std::unique_ptr<Kernel> first, std::unique_ptr<Kernel> second, TensorType between,
                    bool pool_is_first)
      : first_(std::move(first)),
        second_(std::move(second)),
        between_(std::move(between)),
        pool_is_first_(pool_is_first),
        between_bytes_(align_up(between_.bytes(), between_alignment)) {}

  std::string_view implementation() const override {
    return pool_is_first_ ? second_->implementation() : first_->implementation();
  }
  std::size_t workspace_bytes() const override {
    return between_bytes_ + std::max(first_->workspace_bytes(), second_->workspace_bytes());
  }
  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    const std::array between{TensorView{&between_, workspace.data()}};
    const std::span<std::byte> rest = workspace.subspan(between_bytes_);
    if (pool_is_first_) {  // x, dy, winners -> spread; x, spread -> dfilter
      first_->run(stream, inputs.subspan(1), between, rest);
      second_->run(stream, std::array{inputs[0], between[0]}, outputs, rest);
    } else {
      first_->run(stream, inputs, between, rest);
      second_->run(stream, between, outputs, rest);
    }
  }

 private:
  std::unique_ptr<Kernel> first_, second_;
  TensorType between_;
  bool pool_is_first_;
  std::size_t between_bytes_;
};

std::unique_ptr<Kernel> plan_conv2d_max_pool(const Conv2DMaxPool& op, const Signature& signature, Device& device) {
  refuse_turned(op, op.conv);
  if (few_channel_conv_applies(op.conv, signature.inputs[0], signature.inputs[1].shape)) {
    return plan_few_channel_conv2d_max_pool(op, signature, device);
  }
  const std::array between{op.convolved(signature.inputs)};
  return std::make_unique<PooledConvolution>(
      plan_conv2d(Conv2D(op.conv), Signature{signature.inputs, between}, device),
      plan_kernel(MaxPool2D(op.pool), Signature{between, signature.outputs}, device), between[0], false);
}

std::unique_ptr<Kernel> plan_conv2d_max_pool_filter_gradient(const Conv2DMaxPoolFilterGradient& op,
                                                             const Signature& signature, Device& device) {
  if (few_channel_conv_applies(op.conv, signature.inputs[0], op.filter_shape)) {
    return plan_few_channel_conv2d_max_pool_filter_gradient(op, signature, device);
  }
  const std::array between{op.spread(signature.inputs[0])};
  const std::array conv_inputs{signature.inputs[0], between[0]};
  return std::make_unique<PooledConvolution>(
      plan_kernel(MaxPool2DGradient(op.pool, between[0].shape), Signature{signature.inputs.subspan(1), between},
                  device),
      plan_conv2d_filter_gradient(Conv2DFilterGradient(op.conv, op.filter_shape),
                                  Signature{conv_inputs, signature.outputs}, device),
      between[0], true);
}

}  // namespace

void add_conv(KernelTable& table) {
  add_row<&plan_conv2d>(table);
  add_row<&plan_conv2d_input_gradient>(table);
  add_row<&plan_conv2d_filter_gradient>(table);
  add_float32_row<&plan_conv2d_max_pool>(table);
  add_float32_row<&plan_conv2d_max_pool_filter_gradient>(table);
}

}  // namespace gpubench::cpu
