#include "core/backend/cpu/onednn.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench::cpu {
namespace {

using dnnl::algorithm;
using Desc = dnnl::memory::desc;

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

Desc filter_desc(std::string_view op, const TensorType& type, std::int64_t groups) {
  const Shape& s = type.shape;
  if (groups > 1) {
    return {{groups, s[3] / groups, s[2], s[0], s[1]}, onednn_type(op, type.dtype), dnnl::memory::format_tag::hwigo};
  }
  return {{s[3], s[2], s[0], s[1]}, onednn_type(op, type.dtype), dnnl::memory::format_tag::hwio};
}

Desc vector_desc(std::string_view op, const TensorType& type) {
  return {type.shape, onednn_type(op, type.dtype), dnnl::memory::format_tag::x};
}

dnnl::primitive_attr attributes_with(Activation activation) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (activation == Activation::none) return attributes;
  dnnl::post_ops operations;
  append_eltwise(operations, eltwise(activation));
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
  if (epilogue.activation != Activation::none) append_eltwise(operations, eltwise(epilogue.activation));
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

}  // namespace gpubench::cpu
