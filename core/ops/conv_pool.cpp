#include "core/ops/conv_pool.h"

#include <array>
#include <fmt/format.h>

#include "core/ops/bias.h"
#include "core/ops/check.h"

namespace gpubench {

std::string Conv2DMaxPool::attributes() const {
  return fmt::format("{} pool: {}", Conv2D(conv).attributes(), MaxPool2D(pool).attributes());
}

TensorType Conv2DMaxPool::convolved(std::span<const TensorType> inputs) const {
  return Conv2D(conv).infer(inputs)[0];
}

std::vector<TensorType> Conv2DMaxPool::infer(std::span<const TensorType> inputs) const {
  if (ops::needs_argument(conv.activation)) {
    ops::refuse(name(), fmt::format("{} changes which element is largest", to_string(conv.activation)));
  }
  return MaxPool2D(pool).infer(std::array{convolved(inputs)});
}

std::vector<Value> Conv2DMaxPool::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                                           std::span<const Value> output_gradients) const {
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

double Conv2DMaxPool::flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const {
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

std::vector<TensorType> Conv2DMaxPoolFilterGradient::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 3);
  const MaxPool2DGradient pool_gradient(pool, spread(inputs[0]).shape);
  const std::vector<TensorType> between = pool_gradient.infer(inputs.subspan(1));
  return Conv2DFilterGradient(conv, filter_shape).infer(std::array{inputs[0], between[0]});
}

double Conv2DMaxPoolFilterGradient::flops(std::span<const TensorType> inputs,
                                          std::span<const TensorType> outputs) const {
  return Conv2DFilterGradient(conv, filter_shape).flops(std::array{inputs[0], spread(inputs[0])}, outputs);
}

namespace ops {

Value conv2d_max_pool(Graph& graph, std::span<const Value> inputs, const Conv2DAttributes& conv,
                      const Pool2DAttributes& pool) {
  return graph.apply(std::make_shared<const Conv2DMaxPool>(conv, pool), inputs);
}

Value conv2d_max_pool_filter_gradient(Graph& graph, Value x, Value dy, Value winners, const Conv2DAttributes& conv,
                                      const Pool2DAttributes& pool, Shape filter_shape) {
  return graph.apply(std::make_shared<const Conv2DMaxPoolFilterGradient>(conv, pool, std::move(filter_shape)),
                     {x, dy, winners});
}

}  // namespace ops
}  // namespace gpubench
