// Ops without attributes: each is a row of facts and functions, and a class that gives its kernels a type to be found
// by.
#pragma once
#include "core/graph/graph.h"

namespace gpubench {

/// The row of an op; what is left out is as in Op.
struct SimpleOpRow {
  /// The node whose gradient is computed, and the gradients of its outputs.
  struct Node {
    Graph& graph;
    Values inputs, outputs, gradients;
  };

  std::string_view name;
  std::vector<TensorType> (*infer)(std::string_view op, TensorTypes inputs);
  std::vector<Value> (*gradient)(const Node& node) = nullptr;
  std::vector<Alias> aliases{};
  std::optional<BlockForm> block_form{};
  /// Operations for each element of the first input and of the first output; none given: one for each output element.
  double flops_per_input = 0, flops_per_output = 0;
};

class SimpleOp : public Op {
 public:
  std::string_view name() const final { return row_.name; }
  std::vector<TensorType> infer(TensorTypes inputs) const final { return row_.infer(name(), inputs); }
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const final;
  std::vector<Alias> aliases() const final { return row_.aliases; }
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const final { return row_.block_form; }
  double flops(TensorTypes inputs, TensorTypes outputs) const final;

 protected:
  explicit SimpleOp(SimpleOpRow row) : row_(std::move(row)) {}

 private:
  SimpleOpRow row_;
};

}  // namespace gpubench
