#include "core/ops/cast.h"

#include <fmt/format.h>
#include <memory>

#include "core/ops/check.h"

namespace gpubench {

std::string Cast::attributes() const {
  return fmt::format("dtype={}", to_string(dtype));
}

std::vector<TensorType> Cast::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  if (inputs[0].dtype == Dtype::bytes || dtype == Dtype::bytes) {
    ops::refuse(name(), fmt::format("{} cannot become {}", to_string(inputs[0]), to_string(dtype)));
  }
  return {{inputs[0].shape, dtype}};
}

std::vector<Value> Cast::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  const Dtype from = graph.type(inputs[0]).dtype;
  if (!is_floating(from) || !is_floating(dtype)) return {Value{}};
  return {ops::cast(graph, output_gradients[0], from)};
}

CastAll::CastAll(Dtype to) : dtype(to) {
  if (to != Dtype::f16 && to != Dtype::bf16) {
    ops::refuse(name(), fmt::format("float16 or bfloat16 is expected, got {}", to_string(to)));
  }
}

std::string CastAll::attributes() const {
  return fmt::format("dtype={}", to_string(dtype));
}

std::vector<TensorType> CastAll::infer(TensorTypes inputs) const {
  std::vector<TensorType> outputs;
  for (const TensorType& input : inputs) {
    if (input.dtype != Dtype::f32) {
      ops::refuse(name(), fmt::format("tensors of float32 are expected, got {}", to_string(input)));
    }
    outputs.push_back({input.shape, dtype});
  }
  return outputs;
}

namespace ops {

Value cast(Graph& graph, Value x, Dtype dtype) {
  if (graph.type(x).dtype == dtype) return x;
  return graph.apply(std::make_shared<const Cast>(dtype), {x});
}

}  // namespace ops
}  // namespace gpubench
