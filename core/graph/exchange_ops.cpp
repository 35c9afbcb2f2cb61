#include "core/graph/exchange_ops.h"

#include <memory>

namespace gpubench {

ExchangeOp::ExchangeOp(std::size_t tensors) {
  for (int i = 0; i < static_cast<int>(tensors); ++i) aliases_.push_back({i, i, Alias::Kind::in_place});
}

std::vector<Value> AllReduce::gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const {
  if (reduction == Reduction::max) return Op::gradient(graph, inputs, outputs, output_gradients);
  std::vector<Value> gradients(inputs.size(), zero_gradient);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (output_gradients[i]) gradients[i] = all_reduce(graph, output_gradients[i]);
  }
  return gradients;
}

Value all_reduce(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const AllReduce>(1), {x});
}

Value all_reduce_in_bucket(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const AllReduce>(1, Reduction::sum, true), {x});
}

Value all_reduce_max(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const AllReduce>(1, Reduction::max), {x});
}

}  // namespace gpubench
