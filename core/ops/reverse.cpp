#include "core/ops/reverse.h"

#include <fmt/ranges.h>
#include <memory>

#include "core/ops/check.h"

namespace gpubench {

std::string Reverse::attributes() const {
  return fmt::format("axes=[{}]", fmt::join(axes, ", "));
}

std::vector<bool> Reverse::reversed(const TensorType& type) const {
  std::vector<bool> flags(type.shape.size());
  for (const std::int64_t axis : axes) {
    const auto index = static_cast<std::size_t>(ops::axis_index(name(), axis, type));
    if (flags[index]) ops::refuse(name(), fmt::format("axis {} is given twice in [{}]", axis, fmt::join(axes, ", ")));
    flags[index] = true;
  }
  return flags;
}

std::vector<TensorType> Reverse::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 1);
  reversed(inputs[0]);
  return {inputs[0]};
}

std::vector<Value> Reverse::gradient(Graph& graph, std::span<const Value>, std::span<const Value>,
                                     std::span<const Value> output_gradients) const {
  return {graph.apply(std::make_shared<const Reverse>(axes), {output_gradients[0]})};
}

std::optional<BlockForm> Reverse::block_form(std::span<const BlockInput> inputs, std::int64_t) const {
  std::vector<std::int64_t> shifted;
  for (const std::int64_t axis : axes) shifted.push_back(ops::axis_index(name(), axis, inputs[0].element) + 1);
  return BlockForm{.op = std::make_shared<const Reverse>(std::move(shifted))};
}

}  // namespace gpubench
