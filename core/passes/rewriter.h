// Copies a program node by node while a pass replaces some: the pass decides for each node of the old graph, in order,
// to keep it or to map its values to others of the new graph.
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
  /// How many nodes read `value`, plus one for each time it is an output of the program.
  int uses(Value value) const;
  /// The only node that reads `value`, or -1.
  std::int32_t only_user(Value value) const;
  /// Whether a node with an effect stands strictly between two nodes: computing later what stood earlier is then
  /// unsafe.
  bool effect_between(std::int32_t first, std::int32_t last) const;

  Graph& graph() { return graph_; }
  /// The value of the new graph that stands for `old`.
  Value map(Value old) const;
  void replace(Value old, Value replacement);
  /// Copies node `index` of the old graph.
  void keep(std::int32_t index);
  /// Puts `node`, whose inputs are values of the new graph, in place of node `index`: its outputs stand for the old
  /// ones.
  void put(std::int32_t index, Node node);
  /// Adds `op` where node `index` of the old graph stood: on its device, for its owner in its role.
  Value add(std::int32_t index, OpPtr op, std::span<const Value> inputs);
  Program finish();

 private:
  const Program& program_;
  Graph graph_;
  std::vector<std::vector<Value>> mapped_;
  std::vector<std::vector<int>> uses_;
  std::vector<std::int32_t> effects_before_;
  std::vector<std::vector<std::int32_t>> user_;
};

/// Leaves out nodes that have no effect and whose outputs no node reads. Inputs stay, so that their indices hold.
Program remove_dead_code(Program program);

}  // namespace gpubench
