// oneDNN as our planners see it. Versions 2 and 3 differ in how primitives are described: onednn_v2.cpp and
// onednn_v3.cpp define the functions marked "by version", the build takes one of them, and planners are written once.
// To be included by sources of this folder and tests/bench only.
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

/// The one CPU engine.
const dnnl::engine& onednn_engine();

/// "oneDNN 2.6.2, strict": its version and the arithmetic that it may use for float32 by default.
std::string onednn_version();

/// float32, bfloat16 and int8; throws Error("cpu: matmul: int32 is not supported; ...") for all others.
dnnl::memory::data_type onednn_type(std::string_view op, Dtype dtype);

/// Row-major memory, which oneDNN may treat as fewer or reordered dimensions by their strides.
dnnl::memory::desc strided(std::string_view op, Dtype dtype, const OneDnnDims& dims, const OneDnnDims& strides);
/// [batch, height, width, channels] as oneDNN orders it: batch, channels, height, width.
dnnl::memory::desc image_desc(std::string_view op, const TensorType& type);
/// [height, width, input channels, output channels] as oneDNN orders it: output, input, height, width.
dnnl::memory::desc filter_desc(std::string_view op, const TensorType& type);
/// A vector; an empty descriptor when there is none.
dnnl::memory::desc vector_desc(std::string_view op, const TensorType& type);
/// The same dimensions, in whatever order the primitive likes best. By version.
dnnl::memory::desc any_layout(const dnnl::memory::desc& desc);

/// Appends an activation without parameters. By version.
void append_eltwise(dnnl::post_ops& operations, dnnl::algorithm kind);

/// The scratchpad is ours, and `activation` is applied to the result.
dnnl::primitive_attr attributes_with(Activation activation);
/// The scratchpad is ours, and the result is added to what is there.
dnnl::primitive_attr accumulating_attributes();

/// Of a product of int8 whose result has `rank` dimensions, the channels as its second for images: the scratchpad is
/// ours, and the epilogue makes of the sums what the op says.
dnnl::primitive_attr quantized_attributes(const QuantizedEpilogue& epilogue, int rank, std::int64_t channels);
/// What such a primitive is given besides its factors, in the order of the op's inputs.
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

/// describe(), with oneDNN's own exception replaced by a DeviceError that names the call.
template <class F>
auto checked_onednn(std::string_view call, F&& describe) {
  try {
    return describe();
  } catch (const dnnl::error& error) {
    throw DeviceError("oneDNN", call, error.message);
  }
}

// By version.
dnnl::matmul::primitive_desc describe_matmul(const dnnl::memory::desc& a, const dnnl::memory::desc& b,
                                             const dnnl::memory::desc* bias, const dnnl::memory::desc& c,
                                             const dnnl::primitive_attr& attributes);
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
