#include "core/ops/pool.h"

#include <fmt/format.h>

#include "core/ops/check.h"

namespace gpubench {
namespace {

constexpr std::int64_t largest_u8_window = 256;

std::string pool_attributes(const Pool2DAttributes& options) {
  return fmt::format("size={} strides={} padding={}", to_string(options.size), to_string(options.strides),
                     to_string(options.padding));
}

TensorType pooled(std::string_view op, const Pool2DAttributes& options, const TensorType& image) {
  ops::expect_floating(op, image);
  ops::expect_rank(op, "the image [batch, height, width, channels]", image, 4);
  const auto window = slide(op, options, image.shape);
  return {{image.shape[0], window[0].outputs, window[1].outputs, image.shape[3]}, image.dtype};
}

Dtype winner_dtype(const Pool2DAttributes& options) {
  return options.size[0] * options.size[1] <= largest_u8_window ? Dtype::u8 : Dtype::i32;
}

double window_flops(const Pool2DAttributes& options, const TensorType& result) {
  return static_cast<double>(result.elements()) * static_cast<double>(options.size[0] * options.size[1]);
}

}  // namespace

std::array<WindowAxis, 2> slide(std::string_view op, const Pool2DAttributes& options, const Shape& image) {
  const auto axis = [&](std::size_t i) {
    return slide(op, image[1 + i], options.size[i], options.strides[i], 1, options.padding);
  };
  return {axis(0), axis(1)};
}

std::string MaxPool2D::attributes() const {
  return pool_attributes(options);
}

std::vector<TensorType> MaxPool2D::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  TensorType result = pooled(name(), options, inputs[0]);
  TensorType winners{result.shape, winner_dtype(options)};
  return {std::move(result), std::move(winners)};
}

std::vector<Value> MaxPool2D::gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const {
  if (!output_gradients[0]) return {Value{}};
  return {ops::max_pool2d_gradient(graph, output_gradients[0], outputs[1], options, graph.type(inputs[0]).shape)};
}

double MaxPool2D::flops(TensorTypes, TensorTypes outputs) const {
  return window_flops(options, outputs[0]);
}

std::string MaxPool2DGradient::attributes() const {
  return fmt::format("{} input_shape={}", pool_attributes(options), to_string(input_shape));
}

std::vector<TensorType> MaxPool2DGradient::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  const TensorType dx{input_shape, inputs[0].dtype};
  const TensorType expected = pooled(name(), options, dx);
  ops::expect_type(name(), "the gradient", inputs[0], expected);
  ops::expect_type(name(), "the winners", inputs[1], {expected.shape, winner_dtype(options)});
  return {dx};
}

std::string AveragePool2D::attributes() const {
  return pool_attributes(options);
}

std::vector<TensorType> AveragePool2D::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  return {pooled(name(), options, inputs[0])};
}

std::vector<Value> AveragePool2D::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  return {ops::average_pool2d_gradient(graph, output_gradients[0], options, graph.type(inputs[0]).shape)};
}

double AveragePool2D::flops(TensorTypes, TensorTypes outputs) const {
  return window_flops(options, outputs[0]);
}

std::string AveragePool2DGradient::attributes() const {
  return fmt::format("{} input_shape={}", pool_attributes(options), to_string(input_shape));
}

std::vector<TensorType> AveragePool2DGradient::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  const TensorType dx{input_shape, inputs[0].dtype};
  ops::expect_type(name(), "the gradient", inputs[0], pooled(name(), options, dx));
  return {dx};
}

std::vector<Value> AveragePool2DGradient::gradient(Graph& graph, Values, Values, Values output_gradients) const {
  return {ops::average_pool2d(graph, output_gradients[0], options)};  // linear: the adjoint of the adjoint
}

namespace ops {

Value max_pool2d(Graph& graph, Value x, const Pool2DAttributes& options) {
  return graph.apply(std::make_shared<const MaxPool2D>(options), {x});
}

Value max_pool2d_gradient(Graph& graph, Value dy, Value winners, const Pool2DAttributes& options, Shape input_shape) {
  return graph.apply(std::make_shared<const MaxPool2DGradient>(options, std::move(input_shape)), {dy, winners});
}

Value average_pool2d(Graph& graph, Value x, const Pool2DAttributes& options) {
  return graph.apply(std::make_shared<const AveragePool2D>(options), {x});
}

Value average_pool2d_gradient(Graph& graph, Value dy, const Pool2DAttributes& options, Shape input_shape) {
  return graph.apply(std::make_shared<const AveragePool2DGradient>(options, std::move(input_shape)), {dy});
}

}  // namespace ops
}  // namespace gpubench
