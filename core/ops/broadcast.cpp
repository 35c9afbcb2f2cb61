#include "core/ops/broadcast.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/ops/cast.h"
#include "core/ops/check.h"

namespace gpubench::ops {

Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& extent = result[offset + i];
    if (extent == shorter[i] || shorter[i] == 1) continue;
    if (extent != 1) refuse(op, fmt::format("shapes {} and {} do not broadcast", to_string(a), to_string(b)));
    extent = shorter[i];
  }
  return result;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  return std::equal(from.rbegin(), from.rend(), to.rbegin(),
                    [](std::int64_t have, std::int64_t want) { return have == want || have == 1; });
}

Value scalar(Graph& graph, double value, Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return graph.constant(static_cast<float>(value));
    case Dtype::i64:
      return graph.constant(HostTensor::scalar(static_cast<std::int64_t>(value)));
    case Dtype::i32:
      return graph.constant(HostTensor::scalar(static_cast<std::int32_t>(value)));
    default:
      return cast(graph, graph.constant(static_cast<float>(value)), dtype);
  }
}

}  // namespace gpubench::ops
