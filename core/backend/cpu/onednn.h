// The part of oneDNN that our planners use. Versions 2 and 3 describe primitives differently: onednn_v2.cpp and
// onednn_v3.cpp both define the functions marked "by version", and the build compiles one of them. Include this in
// sources of this folder and of tests/bench only.
#pragma once
#include <array>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/ops/quantized_linear.h"
#include "core/ops/window.h"
#include "core/tensor/tensor_type.h"

namespace gpubench::cpu {

using OneDnnDims = dnnl::memory::dims;

/// The CPU engine, shared by all kernels.
const dnnl::engine& onednn_engine();

/// "oneDNN 2.6.2, strict": its version and the arithmetic that it may use for float32 by default.
std::string onednn_version();

/// float32, bfloat16 and int8; throws Error("cpu: matmul: int32 is not supported; ...") for all others.
dnnl::memory::data_type onednn_type(std::string_view op, Dtype dtype);

/// Row-major memory with explicit strides, which can merge or reorder dimensions.
dnnl::memory::desc strided(std::string_view op, Dtype dtype, const OneDnnDims& dims, const OneDnnDims& strides);
/// [batch, height, width, channels] as oneDNN orders it: batch, channels, height, width.
dnnl::memory::desc image_desc(std::string_view op, const TensorType& type);
/// [height, width, input channels / groups, output channels] as oneDNN orders it: output, input, height, width, with
/// the groups in front where there are several.
dnnl::memory::desc filter_desc(std::string_view op, const TensorType& type, std::int64_t groups = 1);
/// A vector; an empty descriptor when there is none.
dnnl::memory::desc vector_desc(std::string_view op, const TensorType& type);
/// The same dimensions, with the layout left to the primitive. By version.
dnnl::memory::desc any_layout(const dnnl::memory::desc& desc);

/// Appends an activation without parameters. By version.
void append_eltwise(dnnl::post_ops& operations, dnnl::algorithm kind);

/// The caller provides the scratchpad, and `activation` is applied to the result.
dnnl::primitive_attr attributes_with(Activation activation);
/// The caller provides the scratchpad, and the result is added to the output's content.
dnnl::primitive_attr accumulating_attributes();

/// Attributes of an int8 product whose result has `rank` dimensions (images: channels second): the caller provides the
/// scratchpad, and `epilogue` is applied to the int32 sums.
dnnl::primitive_attr quantized_attributes(const QuantizedEpilogue& epilogue, int rank, std::int64_t channels);
/// The inputs of such a primitive besides its two factors, in the order of the op's inputs.
struct EpilogueOperand {
  int argument = 0;
  dnnl::memory::desc desc;
};
std::vector<EpilogueOperand> epilogue_operands(const QuantizedEpilogue& epilogue, int rank, std::int64_t channels);

struct ConvolutionWindow {
  OneDnnDims strides, dilations, padding_before, padding_after;
};
ConvolutionWindow convolution_window(const Extents& strides, const Extents& dilations,
                                     const std::array<WindowAxis, 2>& axes);

/// Calls describe() and turns oneDNN's exception into a DeviceError that names the call.
template <class F>
auto checked_onednn(std::string_view call, F&& describe) {
  try {
    return describe();
  } catch (const dnnl::error& error) {
    throw DeviceError("oneDNN", call, error.message);
  }
}

/// The first of oneDNN's implementations whose name contains `wanted`, or, where there is none, its first choice.
/// `describe` returns that. What it describes must live meanwhile: version 2 goes back to it for each further one.
template <class Describe>
auto chosen_implementation(std::string_view wanted, Describe&& describe) {
  auto desc = describe();
  while (std::string_view(desc.impl_info_str()).find(wanted) == std::string_view::npos)
    if (!desc.next_impl()) return describe();
  return desc;
}

// By version.
/// `implementation`: part of the name of the one that is preferred.
dnnl::matmul::primitive_desc describe_matmul(const dnnl::memory::desc& a, const dnnl::memory::desc& b,
                                             const dnnl::memory::desc* bias, const dnnl::memory::desc& c,
                                             const dnnl::primitive_attr& attributes,
                                             std::string_view implementation = {});
dnnl::convolution_forward::primitive_desc describe_convolution(
    const dnnl::memory::desc& x, const dnnl::memory::desc& filter, const dnnl::memory::desc* bias,
    const dnnl::memory::desc& y, const ConvolutionWindow& window, const dnnl::primitive_attr& attributes);
dnnl::convolution_backward_data::primitive_desc describe_convolution_input_gradient(const dnnl::memory::desc& dx,
                                                                                    const dnnl::memory::desc& filter,
                                                                                    const dnnl::memory::desc& dy,
                                                                                    const ConvolutionWindow& window);
dnnl::convolution_backward_weights::primitive_desc describe_convolution_filter_gradient(
    const dnnl::memory::desc& x, const dnnl::memory::desc& dfilter, const dnnl::memory::desc& dy,
    const ConvolutionWindow& window);

}  // namespace gpubench::cpu
