#include "core/ops/conv.h"

#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/ops/activation.h"
#include "core/ops/bias.h"
#include "core/ops/check.h"

namespace gpubench {
namespace {

constexpr std::string_view image_role = "the image [batch, height, width, channels]";
constexpr std::string_view filter_role = "the filter [height, width, input channels / groups, output channels]";

std::string window_attributes(const Conv2DAttributes& options) {
  return fmt::format("strides={} padding={} dilations={} groups={}{}", to_string(options.strides),
                     to_string(options.padding), to_string(options.dilations), options.groups,
                     options.turned ? " turned" : "");
}

Conv2DAttributes without_epilogue(Conv2DAttributes options) {
  options.bias = false;
  options.activation = Activation::none;
  return options;
}

/// The result's shape for an image and a filter whose ranks are checked.
Shape convolved(std::string_view op, const Conv2DAttributes& options, const Shape& image, const Shape& filter) {
  const std::int64_t groups = options.groups;
  if (groups < 1) ops::refuse(op, fmt::format("groups must be at least 1, got {}", groups));
  if (filter[3] % groups != 0) {
    ops::refuse(op, fmt::format("{} output channels do not divide into {} groups", filter[3], groups));
  }
  if (image[3] % groups != 0 || image[3] / groups != filter[2]) {
    const std::string in_groups = groups == 1 ? "" : fmt::format(" in {} groups", groups);
    ops::refuse(op, fmt::format("the image {} has {} channels, the filter {} expects {}{}", to_string(image), image[3],
                                to_string(filter), filter[2] * groups, in_groups));
  }
  const auto window = slide(op, options, image, filter);
  return {image[0], window[0].outputs, window[1].outputs, filter[3]};
}

double convolution_flops(const Shape& result, const Shape& filter) {
  return 2.0 * static_cast<double>(element_count(result)) * static_cast<double>(filter[0] * filter[1] * filter[2]);
}

}  // namespace

Shape filter_extents(const Conv2DAttributes& options, const Shape& stored) {
  if (!options.turned) return stored;
  return {stored[1], stored[2], stored[3], stored[0]};
}

std::array<WindowAxis, 2> slide(std::string_view op, const Conv2DAttributes& options, const Shape& image,
                                const Shape& filter) {
  const auto axis = [&](std::size_t i) {
    return slide(op, image[1 + i], filter[i], options.strides[i], options.dilations[i], options.padding);
  };
  return {axis(0), axis(1)};
}

std::string Conv2D::attributes() const {
  return fmt::format("{} bias={} activation={}", window_attributes(options), options.bias,
                     to_string(options.activation));
}

std::vector<TensorType> Conv2D::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, options.bias ? 3 : 2);
  ops::expect_floating(name(), inputs[0]);
  ops::expect_rank(name(), image_role, inputs[0], 4);
  ops::expect_rank(name(), filter_role, inputs[1], 4);
  ops::expect_same_dtype(name(), inputs[0], inputs[1]);
  const Shape filter = filter_extents(options, inputs[1].shape);
  TensorType result{convolved(name(), options, inputs[0].shape, filter), inputs[0].dtype};
  if (options.bias) ops::expect_type(name(), "the bias", inputs[2], {{result.shape.back()}, result.dtype});
  return {result};
}

std::vector<Value> Conv2D::gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const {
  if (options.turned) return Op::gradient(graph, inputs, outputs, output_gradients);
  Conv2DAttributes linear = options;
  linear.activation = Activation::none;
  const Value dy = undo_activation(graph, options.activation, std::make_shared<const Conv2D>(linear), inputs,
                                   outputs[0], output_gradients[0]);
  std::vector<Value> result = {ops::conv2d_input_gradient(graph, dy, inputs[1], options, graph.type(inputs[0]).shape),
                               ops::conv2d_filter_gradient(graph, inputs[0], dy, options, graph.type(inputs[1]).shape)};
  if (options.bias) result.push_back(ops::bias_gradient(graph, dy));
  return result;
}

double Conv2D::flops(TensorTypes inputs, TensorTypes outputs) const {
  return convolution_flops(outputs[0].shape, filter_extents(options, inputs[1].shape));
}

Conv2DInputGradient::Conv2DInputGradient(Conv2DAttributes given, Shape shape)
    : options(without_epilogue(given)), input_shape(std::move(shape)) {}

std::string Conv2DInputGradient::attributes() const {
  return fmt::format("{} input_shape={}", window_attributes(options), to_string(input_shape));
}

std::vector<TensorType> Conv2DInputGradient::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  const TensorType &dy = inputs[0], &filter = inputs[1];
  ops::expect_floating(name(), dy);
  ops::expect_rank(name(), filter_role, filter, 4);
  ops::expect_same_dtype(name(), dy, filter);
  const TensorType dx{input_shape, dy.dtype};
  ops::expect_rank(name(), image_role, dx, 4);
  ops::expect_type(name(), "the gradient", dy,
                   {convolved(name(), options, input_shape, filter_extents(options, filter.shape)), dy.dtype});
  return {dx};
}

std::vector<Value> Conv2DInputGradient::gradient(Graph& graph, Values inputs, Values outputs,
                                                 Values output_gradients) const {
  if (options.turned) return Op::gradient(graph, inputs, outputs, output_gradients);
  // Linear in both inputs: the adjoint of the adjoint is the convolution itself.
  return {ops::conv2d(graph, output_gradients[0], inputs[1], options),
          ops::conv2d_filter_gradient(graph, output_gradients[0], inputs[0], options, graph.type(inputs[1]).shape)};
}

double Conv2DInputGradient::flops(TensorTypes inputs, TensorTypes) const {
  return convolution_flops(inputs[0].shape, filter_extents(options, inputs[1].shape));
}

Conv2DFilterGradient::Conv2DFilterGradient(Conv2DAttributes given, Shape shape)
    : options(without_epilogue(given)), filter_shape(std::move(shape)) {
  if (options.turned) ops::refuse(name(), "it gives no turned filter");
}

std::string Conv2DFilterGradient::attributes() const {
  return fmt::format("{} filter_shape={}", window_attributes(options), to_string(filter_shape));
}

std::vector<TensorType> Conv2DFilterGradient::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  const TensorType &x = inputs[0], &dy = inputs[1];
  ops::expect_floating(name(), x);
  ops::expect_rank(name(), image_role, x, 4);
  const TensorType filter{filter_shape, x.dtype};
  ops::expect_rank(name(), filter_role, filter, 4);
  ops::expect_type(name(), "the gradient", dy, {convolved(name(), options, x.shape, filter_shape), x.dtype});
  return {filter};
}

std::vector<Value> Conv2DFilterGradient::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  return {ops::conv2d_input_gradient(graph, inputs[1], output_gradients[0], options, graph.type(inputs[0]).shape),
          ops::conv2d(graph, inputs[0], output_gradients[0], options)};
}

double Conv2DFilterGradient::flops(TensorTypes inputs, TensorTypes) const {
  return convolution_flops(inputs[1].shape, filter_shape);
}

std::string Conv2DMaxPool::attributes() const {
  return fmt::format("{} pool: {}", Conv2D(conv).attributes(), MaxPool2D(pool).attributes());
}

TensorType Conv2DMaxPool::convolved(TensorTypes inputs) const {
  return Conv2D(conv).infer(inputs)[0];
}

std::vector<TensorType> Conv2DMaxPool::infer(TensorTypes inputs) const {
  if (ops::needs_argument(conv.activation)) {
    ops::refuse(name(), fmt::format("{} changes which element is largest", to_string(conv.activation)));
  }
  return MaxPool2D(pool).infer(std::array{convolved(inputs)});
}

std::vector<Value> Conv2DMaxPool::gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const {
  if (conv.turned) return Op::gradient(graph, inputs, outputs, output_gradients);
  std::vector<Value> result(inputs.size());
  if (!output_gradients[0]) return result;
  std::vector<TensorType> types;
  for (const Value input : inputs) types.push_back(graph.type(input));
  const Value dy = ops::activation_gradient(graph, conv.activation, output_gradients[0], outputs[0]);
  const Value spread = ops::max_pool2d_gradient(graph, dy, outputs[1], pool, convolved(types).shape);
  result[0] = ops::conv2d_input_gradient(graph, spread, inputs[1], conv, types[0].shape);
  result[1] = ops::conv2d_max_pool_filter_gradient(graph, inputs[0], dy, outputs[1], conv, pool, types[1].shape);
  if (conv.bias) result[2] = ops::bias_gradient(graph, dy);
  return result;
}

double Conv2DMaxPool::flops(TensorTypes inputs, TensorTypes outputs) const {
  const std::array between{convolved(inputs)};
  return Conv2D(conv).flops(inputs, between) + MaxPool2D(pool).flops(between, outputs);
}

Conv2DMaxPoolFilterGradient::Conv2DMaxPoolFilterGradient(Conv2DAttributes conv_options, Pool2DAttributes pool_options,
                                                         Shape filter)
    : conv(Conv2DFilterGradient(conv_options, {}).options), pool(pool_options), filter_shape(std::move(filter)) {}

std::string Conv2DMaxPoolFilterGradient::attributes() const {
  return fmt::format("{} pool: {}", Conv2DFilterGradient(conv, filter_shape).attributes(),
                     MaxPool2D(pool).attributes());
}

TensorType Conv2DMaxPoolFilterGradient::spread(const TensorType& x) const {
  return Conv2D(conv).infer(std::array{x, TensorType{filter_shape, x.dtype}})[0];
}

std::vector<TensorType> Conv2DMaxPoolFilterGradient::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 3);
  const MaxPool2DGradient pool_gradient(pool, spread(inputs[0]).shape);
  const std::vector<TensorType> between = pool_gradient.infer(inputs.subspan(1));
  return Conv2DFilterGradient(conv, filter_shape).infer(std::array{inputs[0], between[0]});
}

double Conv2DMaxPoolFilterGradient::flops(TensorTypes inputs, TensorTypes outputs) const {
  return Conv2DFilterGradient(conv, filter_shape).flops(std::array{inputs[0], spread(inputs[0])}, outputs);
}

namespace ops {

Value conv2d(Graph& graph, Value x, Value filter, Conv2DAttributes options) {
  return graph.apply(std::make_shared<const Conv2D>(options), {x, filter});
}

Value conv2d(Graph& graph, Value x, Value filter, Value bias, Conv2DAttributes options) {
  options.bias = true;
  return graph.apply(std::make_shared<const Conv2D>(options), {x, filter, bias});
}

Value conv2d_input_gradient(Graph& graph, Value dy, Value filter, const Conv2DAttributes& options, Shape input_shape) {
  return graph.apply(std::make_shared<const Conv2DInputGradient>(options, std::move(input_shape)), {dy, filter});
}

Value conv2d_filter_gradient(Graph& graph, Value x, Value dy, const Conv2DAttributes& options, Shape filter_shape) {
  return graph.apply(std::make_shared<const Conv2DFilterGradient>(options, std::move(filter_shape)), {x, dy});
}

Value conv2d_max_pool_filter_gradient(Graph& graph, Value x, Value dy, Value winners, const Conv2DAttributes& conv,
                                      const Pool2DAttributes& pool, Shape filter_shape) {
  return graph.apply(std::make_shared<const Conv2DMaxPoolFilterGradient>(conv, pool, std::move(filter_shape)),
                     {x, dy, winners});
}

}  // namespace ops
}  // namespace gpubench
