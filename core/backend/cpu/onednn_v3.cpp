// The functions for oneDNN 3, which describes primitives differently from version 2.
#include "core/backend/cpu/onednn.h"

namespace gpubench::cpu {
namespace {

using Desc = dnnl::memory::desc;
using dnnl::prop_kind;

constexpr dnnl::algorithm direct = dnnl::algorithm::convolution_direct;

}  // namespace

Desc any_layout(const Desc& desc) {
  return {desc.get_dims(), desc.get_data_type(), dnnl::memory::format_tag::any};
}

void append_eltwise(dnnl::post_ops& operations, dnnl::algorithm kind) {
  operations.append_eltwise(kind, 0.0F, 0.0F);
}

dnnl::matmul::primitive_desc describe_matmul(const Desc& a, const Desc& b, const Desc* bias, const Desc& c,
                                             const dnnl::primitive_attr& attributes, std::string_view implementation) {
  return checked_onednn("matmul::primitive_desc", [&] {
    return chosen_implementation(implementation, [&] {
      return dnnl::matmul::primitive_desc(onednn_engine(), a, b, bias != nullptr ? *bias : Desc(), c, attributes);
    });
  });
}

dnnl::convolution_forward::primitive_desc describe_convolution(const Desc& x, const Desc& filter, const Desc* bias,
                                                               const Desc& y, const ConvolutionWindow& window,
                                                               const dnnl::primitive_attr& attributes) {
  return checked_onednn("convolution_forward::primitive_desc", [&] {
    return dnnl::convolution_forward::primitive_desc(
        onednn_engine(), prop_kind::forward_training, direct, x, filter, bias != nullptr ? *bias : Desc(), y,
        window.strides, window.dilations, window.padding_before, window.padding_after, attributes);
  });
}

dnnl::convolution_backward_data::primitive_desc describe_convolution_input_gradient(const Desc& dx, const Desc& filter,
                                                                                    const Desc& dy,
                                                                                    const ConvolutionWindow& window) {
  const dnnl::primitive_attr plain = attributes_with(Activation::none);
  const auto hint = describe_convolution(any_layout(dx), any_layout(filter), nullptr, any_layout(dy), window, plain);
  return checked_onednn("convolution_backward_data::primitive_desc", [&] {
    return dnnl::convolution_backward_data::primitive_desc(onednn_engine(), direct, dx, filter, dy, window.strides,
                                                           window.dilations, window.padding_before,
                                                           window.padding_after, hint, plain);
  });
}

dnnl::convolution_backward_weights::primitive_desc describe_convolution_filter_gradient(
    const Desc& x, const Desc& dfilter, const Desc& dy, const ConvolutionWindow& window) {
  const dnnl::primitive_attr plain = attributes_with(Activation::none);
  const auto hint = describe_convolution(any_layout(x), any_layout(dfilter), nullptr, any_layout(dy), window, plain);
  return checked_onednn("convolution_backward_weights::primitive_desc", [&] {
    return dnnl::convolution_backward_weights::primitive_desc(onednn_engine(), direct, x, dfilter, dy, window.strides,
                                                              window.dilations, window.padding_before,
                                                              window.padding_after, hint, plain);
  });
}

}  // namespace gpubench::cpu
