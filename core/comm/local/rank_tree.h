// Who waits for whom when ranks are many: a tree in which no rank has more than a few children, and where memory has
// several nodes (NUMA), each node's ranks are one branch, so that only one message of each crosses between nodes.
#pragma once
#include <span>
#include <vector>

namespace gpubench {

/// The place of one rank.
struct TreePlace {
  int parent = -1;  ///< -1 for rank 0, the root
  std::vector<int> children;

  bool operator==(const TreePlace&) const = default;
};

/// The places of all ranks, from the memory node of each. The same for the same nodes: sums along it have one order.
std::vector<TreePlace> rank_tree(std::span<const int> node_of_rank);

/// The ranks by their nodes, in the order of each: so that a ring crosses between nodes as seldom as it can.
std::vector<int> rank_ring(std::span<const int> node_of_rank);

/// The ranks in the order in which `rank` looks for work: itself, those of its node, then the others, each from the
/// next on so that not all help the same one.
std::vector<int> help_order(std::span<const int> node_of_rank, int rank);

}  // namespace gpubench
