#include "core/nn/axis.h"

#include <fmt/format.h>
#include <numeric>

#include "core/ops/shape_ops.h"

namespace gpubench::nn {

std::size_t example_axis(const Layer& layer, std::int64_t axis, const TensorType& example) {
  const std::int64_t index = axis < 0 ? example.rank() + axis : axis - 1;  // an example's shape lacks the batch
  if (index < 0 || index >= example.rank()) {
    layer.fail(fmt::format("axis {} is the batch or not there; {} per example has the axes 1 to {} or -1 to -{}", axis,
                           to_string(example), example.rank(), example.rank()));
  }
  return static_cast<std::size_t>(index);
}

Value swap_with_last(Graph& graph, Value x, std::int64_t axis) {
  const std::int64_t rank = graph.type(x).rank(), index = (axis + rank) % rank;
  if (index == rank - 1) return x;
  std::vector<std::int64_t> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(index)], order.back());
  return ops::transpose(graph, x, order);
}

}  // namespace gpubench::nn
