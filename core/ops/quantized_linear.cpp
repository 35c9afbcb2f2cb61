#include "core/ops/quantized_linear.h"

#include <fmt/format.h>
#include <memory>

#include "core/base/align.h"
#include "core/ops/check.h"

namespace gpubench {
namespace {

std::string epilogue_attributes(const QuantizedEpilogue& options) {
  return fmt::format("bias={} activation={} requantize={} packed={}", options.bias, to_string(options.activation),
                     options.requantize, to_string(options.packed));
}

/// x and the weights, checked but for how their shapes go together. Returns the weights' shape.
Shape check_factors(std::string_view op, const QuantizedEpilogue& options, TensorTypes inputs, int rank) {
  ops::expect_count(op, inputs, 3 + std::size_t{options.bias} + std::size_t{options.requantize});
  const TensorType weights = weights_type(options, inputs);
  if (!options.packed.empty()) ops::expect_type(op, "the packed weights", inputs[1], packed_type(weights));
  for (const TensorType& factor : {inputs[0], weights}) {
    if (factor.dtype == Dtype::i8) continue;
    ops::refuse(op, fmt::format("multiplies int8 by int8, got {} and {}", to_string(inputs[0]), to_string(weights)));
  }
  ops::expect_rank(op, "the input", inputs[0], rank);
  ops::expect_rank(op, "the weights", weights, rank);
  return weights.shape;
}

std::vector<TensorType> with_epilogue(std::string_view op, const QuantizedEpilogue& options, TensorTypes inputs,
                                      Shape result) {
  const TensorType channels{{result.back()}, Dtype::f32};
  ops::expect_type(op, "the scale", inputs[2], channels);
  if (options.bias) ops::expect_type(op, "the bias", inputs[3], channels);
  if (options.requantize) ops::expect_type(op, "the next scale", inputs.back(), {{}, Dtype::f32});
  return {{std::move(result), options.requantize ? Dtype::i8 : Dtype::f32}};
}

std::int64_t rounded_up(std::int64_t count) {
  constexpr std::int64_t block = 64;  // int8 in the widest vector there is
  return align_up(count, block);
}

}  // namespace

TensorType weights_type(const QuantizedEpilogue& options, TensorTypes inputs) {
  return options.packed.empty() ? inputs[1] : TensorType{options.packed, Dtype::i8};
}

std::string QuantizedMatmul::attributes() const {
  return epilogue_attributes(options);
}

std::vector<TensorType> QuantizedMatmul::infer(TensorTypes inputs) const {
  const Shape weights = check_factors(name(), options, inputs, 2);
  const Shape& x = inputs[0].shape;
  if (x[1] != weights[0]) {
    ops::refuse(name(), fmt::format("{} times weights of {}: the inner dimensions {} and {} differ", to_string(x),
                                    to_string(weights), x[1], weights[0]));
  }
  return with_epilogue(name(), options, inputs, {x[0], weights[1]});
}

double QuantizedMatmul::flops(TensorTypes inputs, TensorTypes outputs) const {
  return 2.0 * static_cast<double>(outputs[0].elements()) * static_cast<double>(inputs[0].shape[1]);
}

std::string QuantizedConv2D::attributes() const {
  return fmt::format("strides={} padding={} dilations={} {}", to_string(options.strides), to_string(options.padding),
                     to_string(options.dilations), epilogue_attributes(options));
}

std::vector<TensorType> QuantizedConv2D::infer(TensorTypes inputs) const {
  const Shape filter = check_factors(name(), options, inputs, 4);
  const Shape& x = inputs[0].shape;
  if (x[3] != filter[2]) {
    ops::refuse(name(), fmt::format("the image {} has {} channels, the filter {} expects {}", to_string(x), x[3],
                                    to_string(filter), filter[2]));
  }
  const auto window = slide(name(), options.window(), x, filter);
  return with_epilogue(name(), options, inputs, {x[0], window[0].outputs, window[1].outputs, filter[3]});
}

double QuantizedConv2D::flops(TensorTypes inputs, TensorTypes outputs) const {
  const Shape filter = weights_type(options, inputs).shape;
  return 2.0 * static_cast<double>(outputs[0].elements()) * static_cast<double>(filter[0] * filter[1] * filter[2]);
}

TensorType packed_type(const TensorType& weights) {
  constexpr std::int64_t sums = 4 * sizeof(std::int32_t);  // oneDNN keeps up to three for each channel
  const Shape& shape = weights.shape;
  const std::size_t last = shape.size() - 1;
  std::int64_t places = 1;
  for (std::size_t i = 0; i + 1 < last; ++i) places *= shape[i];
  const std::int64_t outputs = rounded_up(shape[last]);
  return {{places * rounded_up(shape[last - 1]) * outputs + sums * outputs}, Dtype::i8};
}

PackWeights::PackWeights(OpPtr of, TensorType by) : product(std::move(of)), x(std::move(by)) {}

std::string PackWeights::attributes() const {
  return fmt::format("for {} {} of {}", product->name(), product->attributes(), to_string(x));
}

std::vector<TensorType> PackWeights::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  const TensorType& weights = inputs[0];
  if (weights.dtype != Dtype::i8 || (weights.rank() != 2 && weights.rank() != 4)) {
    ops::refuse(name(), fmt::format("takes int8 [k, n] or [height, width, input channels, output channels], got {}",
                                    to_string(weights)));
  }
  return {packed_type(weights)};
}

namespace ops {

Value quantized_matmul(Graph& graph, Value x, Value weights, Value scale) {
  return graph.apply(std::make_shared<const QuantizedMatmul>(), {x, weights, scale});
}

Value quantized_conv2d(Graph& graph, Value x, Value filter, Value scale, const Conv2DAttributes& window) {
  QuantizedConv2DAttributes options;
  options.strides = window.strides;
  options.padding = window.padding;
  options.dilations = window.dilations;
  return graph.apply(std::make_shared<const QuantizedConv2D>(std::move(options)), {x, filter, scale});
}

}  // namespace ops
}  // namespace gpubench
