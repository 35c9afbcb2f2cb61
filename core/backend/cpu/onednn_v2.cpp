// The functions for oneDNN 2, which describes primitives differently from version 3.
#include "core/backend/cpu/onednn.h"

namespace gpubench::cpu {
namespace {

using Desc = dnnl::memory::desc;
using dnnl::prop_kind;

constexpr dnnl::algorithm direct = dnnl::algorithm::convolution_direct;

}  // namespace

Desc any_layout(const Desc& desc) {
  return {desc.dims(), desc.data_type(), dnnl::memory::format_tag::any};
}

void append_eltwise(dnnl::post_ops& operations, dnnl::algorithm kind) {
  operations.append_eltwise(1.0F, kind, 0.0F, 0.0F);
}

dnnl::matmul::primitive_desc describe_matmul(const Desc& a, const Desc& b, const Desc* bias, const Desc& c,
                                             const dnnl::primitive_attr& attributes, std::string_view implementation) {
  return checked_onednn("matmul::primitive_desc", [&] {
    const auto description = bias != nullptr ? dnnl::matmul::desc(a, b, *bias, c) : dnnl::matmul::desc(a, b, c);
    return chosen_implementation(
        implementation, [&] { return dnnl::matmul::primitive_desc(description, attributes, onednn_engine()); });
  });
}

dnnl::convolution_forward::primitive_desc describe_convolution(const Desc& x, const Desc& filter, const Desc* bias,
                                                               const Desc& y, const ConvolutionWindow& window,
                                                               const dnnl::primitive_attr& attributes) {
  return checked_onednn("convolution_forward::primitive_desc", [&] {
    const dnnl::convolution_forward::desc description(prop_kind::forward_training, direct, x, filter,
                                                      bias != nullptr ? *bias : Desc(), y, window.strides,
                                                      window.dilations, window.padding_before, window.padding_after);
    return dnnl::convolution_forward::primitive_desc(description, attributes, onednn_engine());
  });
}

dnnl::convolution_backward_data::primitive_desc describe_convolution_input_gradient(const Desc& dx, const Desc& filter,
                                                                                    const Desc& dy,
                                                                                    const ConvolutionWindow& window) {
  const dnnl::primitive_attr plain = attributes_with(Activation::none);
  const auto hint = describe_convolution(any_layout(dx), any_layout(filter), nullptr, any_layout(dy), window, plain);
  return checked_onednn("convolution_backward_data::primitive_desc", [&] {
    const dnnl::convolution_backward_data::desc description(direct, dx, filter, dy, window.strides, window.dilations,
                                                            window.padding_before, window.padding_after);
    return dnnl::convolution_backward_data::primitive_desc(description, plain, onednn_engine(), hint);
  });
}

dnnl::convolution_backward_weights::primitive_desc describe_convolution_filter_gradient(
    const Desc& x, const Desc& dfilter, const Desc& dy, const ConvolutionWindow& window) {
  const dnnl::primitive_attr plain = attributes_with(Activation::none);
  const auto hint = describe_convolution(any_layout(x), any_layout(dfilter), nullptr, any_layout(dy), window, plain);
  return checked_onednn("convolution_backward_weights::primitive_desc", [&] {
    const dnnl::convolution_backward_weights::desc description(direct, x, dfilter, dy, window.strides, window.dilations,
                                                               window.padding_before, window.padding_after);
    return dnnl::convolution_backward_weights::primitive_desc(description, plain, onednn_engine(), hint);
  });
}

}  // namespace gpubench::cpu
