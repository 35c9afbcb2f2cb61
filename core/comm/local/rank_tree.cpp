#include "core/comm/local/rank_tree.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace gpubench {
namespace {

/// A wait costs a transfer between caches, and those of siblings run at the same time but for their ends.
constexpr std::size_t fan_out = 4;

/// Links ranks[i] below ranks[(i - 1) / fan_out].
void link(std::vector<TreePlace>& places, std::span<const int> ranks) {
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const int parent = ranks[(i - 1) / fan_out];
    places[static_cast<std::size_t>(ranks[i])].parent = parent;
    places[static_cast<std::size_t>(parent)].children.push_back(ranks[i]);
  }
}

}  // namespace

std::vector<TreePlace> rank_tree(std::span<const int> node_of_rank) {
  std::vector<TreePlace> places(node_of_rank.size());
  std::vector<int> firsts;  // of each node, in the order of ranks
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
    const auto before = node_of_rank.first(rank);
    if (std::ranges::find(before, node_of_rank[rank]) == before.end()) firsts.push_back(static_cast<int>(rank));
  }
  link(places, firsts);
  for (const int first : firsts) {
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
      if (node_of_rank[rank] == node_of_rank[static_cast<std::size_t>(first)]) ranks.push_back(static_cast<int>(rank));
    }
    link(places, ranks);
  }
  return places;
}

std::vector<int> rank_ring(std::span<const int> node_of_rank) {
  std::vector<int> ring(node_of_rank.size());
  std::iota(ring.begin(), ring.end(), 0);
  std::ranges::stable_sort(ring, {}, [&](int rank) { return node_of_rank[static_cast<std::size_t>(rank)]; });
  return ring;
}

std::vector<int> help_order(std::span<const int> node_of_rank, int rank) {
  std::vector<int> order;
  const auto size = static_cast<int>(node_of_rank.size());
  for (int next = 0; next < size; ++next) order.push_back((rank + next) % size);
  std::stable_partition(order.begin(), order.end(), [&](int other) {
    return node_of_rank[static_cast<std::size_t>(other)] == node_of_rank[static_cast<std::size_t>(rank)];
  });
  return order;
}

}  // namespace gpubench
