#include "core/ops/indexing.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "core/ops/check.h"

namespace gpubench {

std::string OneHot::attributes() const {
  return fmt::format("depth={} dtype={}", depth, to_string(dtype));
}

std::vector<TensorType> OneHot::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  ops::expect_integer(name(), "indices", inputs[0]);
  if (depth < 1) ops::refuse(name(), fmt::format("depth must be at least 1, got {}", depth));
  if (dtype == Dtype::bytes) ops::refuse(name(), "cannot make bytes");
  TensorType result{inputs[0].shape, dtype};
  result.shape.push_back(depth);
  return {std::move(result)};
}

std::vector<TensorType> Gather::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  ops::expect_integer(name(), "indices", inputs[1]);
  if (inputs[0].rank() == 0) ops::refuse(name(), "a scalar has no rows");
  TensorType result{inputs[1].shape, inputs[0].dtype};
  result.shape.insert(result.shape.end(), inputs[0].shape.begin() + 1, inputs[0].shape.end());
  return {std::move(result)};
}

std::vector<Value> Gather::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  return {ops::gather_gradient(graph, output_gradients[0], inputs[1], graph.type(inputs[0]).shape[0]), Value{}};
}

double Gather::bytes(TensorTypes inputs, TensorTypes outputs) const {
  return static_cast<double>(inputs[1].bytes()) + 2.0 * static_cast<double>(outputs[0].bytes());
}

std::string GatherGradient::attributes() const {
  return fmt::format("rows={}", rows);
}

std::vector<TensorType> GatherGradient::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  ops::expect_floating(name(), inputs[0]);
  ops::expect_integer(name(), "indices", inputs[1]);
  const Shape &dy = inputs[0].shape, &indices = inputs[1].shape;
  if (dy.size() < indices.size() || !std::equal(indices.begin(), indices.end(), dy.begin())) {
    ops::refuse(name(), fmt::format("the gradient {} does not start with the shape of the indices {}",
                                    to_string(inputs[0]), to_string(inputs[1])));
  }
  TensorType result{{rows}, inputs[0].dtype};
  result.shape.insert(result.shape.end(), dy.begin() + static_cast<std::ptrdiff_t>(indices.size()), dy.end());
  return {std::move(result)};
}

std::vector<Value> GatherGradient::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  return {ops::gather(graph, output_gradients[0], inputs[1]), Value{}};
}

double GatherGradient::flops(TensorTypes inputs, TensorTypes) const {
  return static_cast<double>(inputs[0].elements());
}

namespace ops {

Value one_hot(Graph& graph, Value indices, std::int64_t depth, Dtype dtype) {
  return graph.apply(std::make_shared<const OneHot>(depth, dtype), {indices});
}
Value gather(Graph& graph, Value params, Value indices, Gather::Of of) {
  return graph.apply(std::make_shared<const Gather>(of), {params, indices});
}
Value gather_gradient(Graph& graph, Value dy, Value indices, std::int64_t rows) {
  return graph.apply(std::make_shared<const GatherGradient>(rows), {dy, indices});
}

}  // namespace ops
}  // namespace gpubench
