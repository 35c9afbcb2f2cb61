// strategy:reduce: combines the replicas' values into one.
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/ops/cast.h"
#include "lua/api/train/strategy.h"

namespace gpubench::lua {
namespace {

/// Sums of all processes, in the order of ranks; each has the same types.
std::vector<double> over_processes(ProcessGroup& group, std::vector<double> values) {
  std::string text(values.size() * sizeof(double), '\0');
  std::memcpy(text.data(), values.data(), text.size());
  std::ranges::fill(values, 0);
  for (const std::string& other : group.all_gather(text)) {
    if (other.size() != text.size())
      throw Error("Strategy:reduce: processes have values of different shapes; reduce them over an axis");
    for (std::size_t i = 0; i < values.size(); ++i) {
      double value = 0;
      std::memcpy(&value, other.data() + i * sizeof(double), sizeof(double));
      values[i] += value;
    }
  }
  return values;
}

HostTensor as_float32(Dispatcher& dispatcher, const Tensor& tensor) {
  if (!is_floating(tensor.type().dtype)) {
    throw ArgumentError(fmt::format("floating-point values can be reduced, got {}; cast them in the function",
                                    to_string(tensor.type())));
  }
  Eager& eager = dispatcher.eager();
  const OpPtr cast = std::make_shared<const Cast>(Dtype::f32);
  return eager.on_host(eager.apply(cast, std::span(&tensor, 1), tensor.device(), "reduce")[0]);
}

/// The tensor with its axis `axis`, from 0, added up.
std::vector<double> sum_over(const HostTensor& tensor, std::size_t axis) {
  const Shape& shape = tensor.shape();
  std::size_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i < axis) outer *= static_cast<std::size_t>(shape[i]);
    if (i > axis) inner *= static_cast<std::size_t>(shape[i]);
  }
  const auto count = static_cast<std::size_t>(shape[axis]);
  std::vector<double> sums(outer * inner, 0.0);
  const auto values = tensor.values<float>();
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t i = 0; i < inner; ++i)
        sums[o * inner + i] += static_cast<double>(values[(o * count + k) * inner + i]);
    }
  }
  return sums;
}

}  // namespace

Tensor reduce_replicas(lua_State* L, const std::shared_ptr<ScriptStrategy>& strategy, const std::string& operation,
                       const std::shared_ptr<PerReplica>& value, std::optional<std::int64_t> axis) {
  static_cast<void>(L);
  if (operation != "sum" && operation != "mean")
    throw ArgumentError(fmt::format("unknown operation '{}' (known: sum, mean)", operation));
  Dispatcher& dispatcher = strategy->world->dispatcher;
  const Shape& first = value->values[0].type().shape;
  if (axis && (*axis < 1 || *axis > std::ssize(first))) {
    throw ArgumentError(fmt::format(
        "axis {}: the values have the axes 1 to {}; without one, replicas alone are reduced", *axis, first.size()));
  }
  std::vector<double> sums;
  double count = 0;
  Shape shape = first;
  if (axis) shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(*axis - 1));
  for (const Tensor& tensor : value->values) {
    const HostTensor host = as_float32(dispatcher, tensor);
    std::vector<double> own;
    if (host.type().rank() != std::ssize(first)) {
      throw ArgumentError(fmt::format("replicas have values of different ranks, {} and {}",
                                      to_string(value->values[0].type()), to_string(tensor.type())));
    }
    if (axis) {
      own = sum_over(host, static_cast<std::size_t>(*axis - 1));
      count += static_cast<double>(host.shape()[static_cast<std::size_t>(*axis - 1)]);
    } else {
      const auto values = host.values<float>();
      own.assign(values.begin(), values.end());
      count += 1;
    }
    if (sums.empty()) sums.assign(own.size(), 0.0);
    if (own.size() != sums.size()) {
      throw ArgumentError(fmt::format("replicas have values of different shapes, {} and {}; reduce them over an axis",
                                      to_string(value->values[0].type()), to_string(tensor.type())));
    }
    for (std::size_t i = 0; i < own.size(); ++i) sums[i] += own[i];
  }
  sums.push_back(count);
  if (value->group != nullptr) sums = over_processes(*value->group, std::move(sums));
  count = sums.back();
  HostTensor result(TensorType{shape, Dtype::f32});
  for (std::size_t i = 0; i + 1 < sums.size(); ++i)
    result.values<float>()[i] = static_cast<float>(operation == "mean" ? sums[i] / count : sums[i]);
  return dispatcher.eager().upload(result, strategy->replicas->device(0), "reduced");
}

}  // namespace gpubench::lua
