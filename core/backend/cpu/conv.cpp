#include "core/backend/cpu/conv.h"

#include "core/backend/cpu/grey_conv.h"
#include "core/backend/cpu/onednn_kernel.h"
#include "core/backend/cpu/widened.h"

namespace gpubench::cpu {
namespace {

ConvolutionWindow window_of(std::string_view op, const Conv2DAttributes& options, const Shape& image,
                            const Shape& filter) {
  return convolution_window(options.strides, options.dilations, slide(op, options, image, filter));
}

}  // namespace

std::unique_ptr<Kernel> plan_conv2d(const Conv2D& op, const Signature& signature, Device& device) {
  if (needs_widening(signature)) return plan_widened<Conv2D, &plan_conv2d>(op, signature, device);
  const TensorType &x = signature.inputs[0], &filter = signature.inputs[1], &y = signature.outputs[0];
  if (grey_conv_applies(op.options, x, filter.shape)) return plan_grey_conv2d(op, signature, device);
  auto kernel = std::make_unique<OneDnnKernel>(device);
  const auto filter_memory = filter_desc(op.name(), filter);
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
  if (needs_widening(signature))
    return plan_widened<Conv2DInputGradient, &plan_conv2d_input_gradient>(op, signature, device);
  const TensorType &dy = signature.inputs[0], &filter = signature.inputs[1], &dx = signature.outputs[0];
  auto kernel = std::make_unique<OneDnnKernel>(device);
  const auto filter_memory = filter_desc(op.name(), filter);
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
  if (needs_widening(signature))
    return plan_widened<Conv2DFilterGradient, &plan_conv2d_filter_gradient>(op, signature, device);
  const TensorType &x = signature.inputs[0], &dy = signature.inputs[1], &dfilter = signature.outputs[0];
  if (grey_conv_applies(op.options, x, dfilter.shape)) return plan_grey_conv2d_filter_gradient(op, signature, device);
  auto kernel = std::make_unique<OneDnnKernel>(device);
  const auto filter_memory = filter_desc(op.name(), dfilter);
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

}  // namespace gpubench::cpu
