// Copies a program node by node while a pass replaces nodes: for each node of the old graph, in order, the pass either
// keeps it or maps its values to values of the new graph.
#pragma once
#include <cstdint>
#include <vector>

#include "core/passes/pass.h"

namespace gpubench {

class Rewriter {
 public:
  explicit Rewriter(const Program& program);

  const Graph& old_graph() const { return program_.graph; }
  const Node& old_node(Value value) const { return program_.graph.node(value); }
  /// Number of nodes that read `value`, plus one for each time it is a program output.
  int uses(Value value) const;
  /// The only node that reads `value`, or -1.
  std::int32_t only_user(Value value) const;
  /// Whether a node with an effect is strictly between two nodes, so that moving a computation past it is unsafe.
  bool effect_between(std::int32_t first, std::int32_t last) const;
  /// Whether a node strictly between two nodes updates the memory of `value`, so that they read different numbers.
  bool changes_between(Value value, std::int32_t first, std::int32_t last) const;

  Graph& graph() { return graph_; }
  /// The value of the new graph that replaces `old`.
  Value map(Value old) const;
  void replace(Value old, Value replacement);
  /// Copies node `index` of the old graph.
  void keep(std::int32_t index);
  /// Replaces node `index` by `node`, whose inputs are values of the new graph and whose outputs replace the old ones.
  void put(std::int32_t index, Node node);
  /// Adds `op` with the device, owner and role of node `index` of the old graph.
  Value add(std::int32_t index, OpPtr op, Values inputs);
  Program finish();

 private:
  /// The first value of the memory that `value` is in.
  Value memory_of(Value value) const;

  const Program& program_;
  Graph graph_;
  std::vector<std::vector<Value>> mapped_;
  std::vector<std::vector<int>> uses_;
  std::vector<std::int32_t> effects_before_;
  std::vector<std::vector<std::int32_t>> user_;
};

/// Removes nodes without an effect whose outputs are not read. Inputs stay, so that their indices stay valid.
Program remove_dead_code(Program program);

}  // namespace gpubench
