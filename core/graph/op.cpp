#include "core/graph/op.h"

#include <algorithm>

namespace gpubench {

std::vector<Value> Op::gradient(Graph&, Values inputs, Values, Values) const {
  return std::vector<Value>(inputs.size());
}

std::optional<BlockForm> Op::block_form(std::span<const BlockInput>, std::int64_t) const {
  return std::nullopt;
}

bool Op::is_view() const {
  const std::vector<Alias> all = aliases();
  return !all.empty() && all[0].kind == Alias::Kind::view;
}

bool Op::has_effect() const {
  const std::vector<Alias> all = aliases();
  return std::any_of(all.begin(), all.end(), [](const Alias& alias) { return alias.kind == Alias::Kind::in_place; });
}

double Op::flops(TensorTypes, TensorTypes outputs) const {
  double total = 0;
  for (const TensorType& type : outputs) total += static_cast<double>(type.elements());
  return total;
}

double Op::bytes(TensorTypes inputs, TensorTypes outputs) const {
  double total = 0;
  for (const TensorType& type : inputs) total += static_cast<double>(type.bytes());
  for (const TensorType& type : outputs) total += static_cast<double>(type.bytes());
  return total;
}

std::vector<TensorType> checked_outputs(const Op& op, TensorTypes inputs) {
  std::vector<TensorType> outputs = op.infer(inputs);
  for (const TensorType& type : outputs) check_size(type, op.name());
  return outputs;
}

}  // namespace gpubench
