// The tree along which many ranks wait for each other: each rank has few children, and the ranks of one NUMA node form
// one branch, so that only one message per node crosses between nodes.
#pragma once
#include <span>
#include <vector>

namespace gpubench {

/// The position of one rank.
struct TreePlace {
  int parent = -1;  ///< -1 for rank 0, the root
  std::vector<int> children;

  bool operator==(const TreePlace&) const = default;
};

/// The positions of all ranks, from the NUMA node of each. Equal nodes give equal trees, so sums along it have a fixed
/// order.
std::vector<TreePlace> rank_tree(std::span<const int> node_of_rank);

/// The ranks grouped by node: a ring in this order crosses between nodes as rarely as possible.
std::vector<int> rank_ring(std::span<const int> node_of_rank);

/// The order in which `rank` looks for work: itself, the ranks of its node, then the others. Each group starts behind
/// `rank`, so that not all ranks help the same one.
std::vector<int> help_order(std::span<const int> node_of_rank, int rank);

}  // namespace gpubench
