#include "core/backend/cpu/onednn.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench::cpu {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;
using Desc = dnnl::memory::desc;

constexpr algorithm direct = algorithm::convolution_direct;

algorithm eltwise(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return algorithm::eltwise_relu;
    case Activation::sigmoid:
      return algorithm::eltwise_logistic;
    case Activation::tanh:
      return algorithm::eltwise_tanh;
    case Activation::gelu:
      return algorithm::eltwise_gelu_erf;
    case Activation::gelu_tanh:
      return algorithm::eltwise_gelu_tanh;
    case Activation::none:
      break;
  }
  return algorithm::undef;
}

/// Calls of the library throw its own exception; ours carries the call and the reason.
template <class F>
auto checked(std::string_view call, F&& describe) {
  try {
    return describe();
  } catch (const dnnl::error& error) {
    throw DeviceError("oneDNN", call, error.message);
  }
}

OneDnnDims dims_of(const Desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return desc.get_dims();
#else
  return desc.dims();
#endif
}

dnnl::memory::data_type type_of(const Desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return desc.get_data_type();
#else
  return desc.data_type();
#endif
}

void append(dnnl::post_ops& operations, algorithm kind) {
#if DNNL_VERSION_MAJOR >= 3
  operations.append_eltwise(kind, 0.0F, 0.0F);
#else
  operations.append_eltwise(1.0F, kind, 0.0F, 0.0F);
#endif
}

}  // namespace

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  dnnl_fpmath_mode_t mode = dnnl_fpmath_mode_strict;
  dnnl_get_default_fpmath_mode(&mode);
  return fmt::format("oneDNN {}.{}.{}, {}", version->major, version->minor, version->patch,
                     mode == dnnl_fpmath_mode_strict ? "strict" : "reduced precision");
}

const dnnl::engine& onednn_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::memory::data_type onednn_type(std::string_view op, Dtype dtype) {
  if (dtype == Dtype::f32) return dnnl::memory::data_type::f32;
  if (dtype == Dtype::bf16) return dnnl::memory::data_type::bf16;
  if (dtype == Dtype::i8) return dnnl::memory::data_type::s8;
  throw Error(fmt::format("cpu: {}: {} is not supported; cast to float32", op, to_string(dtype)));
}

Desc strided(std::string_view op, Dtype dtype, const OneDnnDims& dims, const OneDnnDims& strides) {
  return {dims, onednn_type(op, dtype), strides};
}

Desc image_desc(std::string_view op, const TensorType& type) {
  const Shape& s = type.shape;
  return {{s[0], s[3], s[1], s[2]}, onednn_type(op, type.dtype), dnnl::memory::format_tag::nhwc};
}

Desc filter_desc(std::string_view op, const TensorType& type) {
  const Shape& s = type.shape;
  return {{s[3], s[2], s[0], s[1]}, onednn_type(op, type.dtype), dnnl::memory::format_tag::hwio};
}

Desc vector_desc(std::string_view op, const TensorType& type) {
  return {type.shape, onednn_type(op, type.dtype), dnnl::memory::format_tag::x};
}

Desc any_layout(const Desc& desc) {
  return {dims_of(desc), type_of(desc), dnnl::memory::format_tag::any};
}

dnnl::primitive_attr attributes_with(Activation activation) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (activation == Activation::none) return attributes;
  dnnl::post_ops operations;
  append(operations, eltwise(activation));
  attributes.set_post_ops(operations);
  return attributes;
}

dnnl::primitive_attr accumulating_attributes() {
  dnnl::primitive_attr attributes = attributes_with(Activation::none);
  dnnl::post_ops operations;
  operations.append_sum(1.0F);
  attributes.set_post_ops(operations);
  return attributes;
}

std::vector<EpilogueOperand> epilogue_operands(const QuantizedEpilogue& epilogue, int rank, std::int64_t channels) {
  const OneDnnDims one(static_cast<std::size_t>(rank), 1);
  OneDnnDims each = one;
  each[1] = channels;
  std::vector<EpilogueOperand> operands;
  int position = 0;
  const auto add = [&](const OneDnnDims& dims) {
    OneDnnDims strides = one;
    strides[0] = dims[1];
    operands.push_back(
        {DNNL_ARG_ATTR_MULTIPLE_POST_OP(position++) | DNNL_ARG_SRC_1, {dims, dnnl::memory::data_type::f32, strides}});
  };
  add(each);
  if (epilogue.bias) add(each);
  if (epilogue.activation != Activation::none) ++position;
  if (epilogue.requantize) add(one);
  return operands;
}

dnnl::primitive_attr quantized_attributes(const QuantizedEpilogue& epilogue, int rank, std::int64_t channels) {
  const std::vector<EpilogueOperand> operands = epilogue_operands(epilogue, rank, channels);
  dnnl::post_ops operations;
  operations.append_binary(algorithm::binary_mul, operands[0].desc);
  if (epilogue.bias) operations.append_binary(algorithm::binary_add, operands[1].desc);
  if (epilogue.activation != Activation::none) append(operations, eltwise(epilogue.activation));
  if (epilogue.requantize) operations.append_binary(algorithm::binary_div, operands.back().desc);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(operations);
  return attributes;
}

ConvolutionWindow convolution_window(const Extents& strides, const Extents& dilations,
                                     const std::array<WindowAxis, 2>& axes) {
  return {{strides[0], strides[1]},
          {dilations[0] - 1, dilations[1] - 1},  // oneDNN counts the gaps
          {axes[0].padding_before, axes[1].padding_before},
          {axes[0].padding_after, axes[1].padding_after}};
}

#if DNNL_VERSION_MAJOR >= 3

dnnl::matmul::primitive_desc describe_matmul(const Desc& a, const Desc& b, const Desc* bias, const Desc& c,
                                             const dnnl::primitive_attr& attributes) {
  return checked("matmul::primitive_desc", [&] {
    return dnnl::matmul::primitive_desc(onednn_engine(), a, b, bias != nullptr ? *bias : Desc(), c, attributes);
  });
}

dnnl::convolution_forward::primitive_desc describe_convolution(const Desc& x, const Desc& filter, const Desc* bias,
                                                               const Desc& y, const ConvolutionWindow& window,
                                                               const dnnl::primitive_attr& attributes) {
  return checked("convolution_forward::primitive_desc", [&] {
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
  return checked("convolution_backward_data::primitive_desc", [&] {
    return dnnl::convolution_backward_data::primitive_desc(onednn_engine(), direct, dx, filter, dy, window.strides,
                                                           window.dilations, window.padding_before,
                                                           window.padding_after, hint, plain);
  });
}

dnnl::convolution_backward_weights::primitive_desc describe_convolution_filter_gradient(
    const Desc& x, const Desc& dfilter, const Desc& dy, const ConvolutionWindow& window) {
  const dnnl::primitive_attr plain = attributes_with(Activation::none);
  const auto hint = describe_convolution(any_layout(x), any_layout(dfilter), nullptr, any_layout(dy), window, plain);
  return checked("convolution_backward_weights::primitive_desc", [&] {
    return dnnl::convolution_backward_weights::primitive_desc(onednn_engine(), direct, x, dfilter, dy, window.strides,
                                                              window.dilations, window.padding_before,
                                                              window.padding_after, hint, plain);
  });
}

#else

dnnl::matmul::primitive_desc describe_matmul(const Desc& a, const Desc& b, const Desc* bias, const Desc& c,
                                             const dnnl::primitive_attr& attributes) {
  return checked("matmul::primitive_desc", [&] {
    const auto description = bias != nullptr ? dnnl::matmul::desc(a, b, *bias, c) : dnnl::matmul::desc(a, b, c);
    return dnnl::matmul::primitive_desc(description, attributes, onednn_engine());
  });
}

dnnl::convolution_forward::primitive_desc describe_convolution(const Desc& x, const Desc& filter, const Desc* bias,
                                                               const Desc& y, const ConvolutionWindow& window,
                                                               const dnnl::primitive_attr& attributes) {
  return checked("convolution_forward::primitive_desc", [&] {
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
  return checked("convolution_backward_data::primitive_desc", [&] {
    const dnnl::convolution_backward_data::desc description(direct, dx, filter, dy, window.strides, window.dilations,
                                                            window.padding_before, window.padding_after);
    return dnnl::convolution_backward_data::primitive_desc(description, plain, onednn_engine(), hint);
  });
}

dnnl::convolution_backward_weights::primitive_desc describe_convolution_filter_gradient(
    const Desc& x, const Desc& dfilter, const Desc& dy, const ConvolutionWindow& window) {
  const dnnl::primitive_attr plain = attributes_with(Activation::none);
  const auto hint = describe_convolution(any_layout(x), any_layout(dfilter), nullptr, any_layout(dy), window, plain);
  return checked("convolution_backward_weights::primitive_desc", [&] {
    const dnnl::convolution_backward_weights::desc description(direct, x, dfilter, dy, window.strides, window.dilations,
                                                               window.padding_before, window.padding_after);
    return dnnl::convolution_backward_weights::primitive_desc(description, plain, onednn_engine(), hint);
  });
}

#endif

}  // namespace gpubench::cpu
