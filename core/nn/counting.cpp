#include "core/nn/counting.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/labels.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"

namespace gpubench {

double ratio(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

Value in_float(Graph& graph, Value condition) {
  return ops::cast(graph, condition, Dtype::f32);
}

Value positive_labels(Graph& graph, const std::string& owner, Value labels, Value predictions) {
  const Value numbers = matching_labels(graph, owner, labels, predictions);
  return in_float(graph, ops::not_equal(graph, numbers, ops::scalar(graph, 0, Dtype::f32)));
}

Value levels_of(Graph& graph, std::span<const float> numbers) {
  HostTensor levels(TensorType{{std::ssize(numbers)}, Dtype::f32});
  std::ranges::copy(numbers, levels.values<float>().begin());
  return graph.constant(std::move(levels));
}

void expect_within(const Config& config, std::string_view name, const Numbers& numbers, double low, double high) {
  for (const double number : numbers) {
    if (number >= low && number <= high) continue;
    throw Error(fmt::format("{}: {} must be from {} to {}, got {}", config.owner(), name, low, high, number));
  }
}

Value confusion(Graph& graph, Value positive, Value actual, int kept, Value weights) {
  std::vector<std::int64_t> axes;
  const int rank = graph.type(positive).rank();
  for (int axis = 0; axis < rank - kept; ++axis) axes.push_back(axis);
  const Value counted = weights ? ops::mul(graph, positive, weights) : positive;
  const Value of_labels = weights ? ops::mul(graph, actual, weights) : actual;
  std::vector<Value> sums;
  for (const Value summed : {ops::mul(graph, counted, actual), counted, of_labels}) {
    sums.push_back(ops::reshape(graph, ops::reduce_sum(graph, summed, axes), {-1}));
  }
  return ops::concat(graph, sums, 0);
}

std::int64_t columns_of(const TensorType& predictions) {
  return predictions.shape.empty() ? 1 : predictions.shape.back();
}

std::int64_t optional_from(const Config& config, std::string_view name, std::int64_t least) {
  const bool has = std::ranges::any_of(config.entries(), [&](const auto& entry) { return entry.first == name; });
  return has && config.integer(name) != -1 ? config.integer_from(name, least) : -1;
}

}  // namespace gpubench
