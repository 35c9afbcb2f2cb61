#include "core/comm/local/rank_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubench {
namespace {

using testing::ElementsAre;

std::vector<int> spread_over_nodes(int ranks, int nodes) {
  std::vector<int> node_of_rank;
  for (int rank = 0; rank < ranks; ++rank) node_of_rank.push_back(rank * nodes / ranks);
  return node_of_rank;
}

TEST(RankTree, one_node) {
  const std::vector<int> nodes(7, 0);
  const auto places = rank_tree(nodes);
  EXPECT_EQ(places[0], (TreePlace{-1, {1, 2, 3, 4}}));
  EXPECT_EQ(places[1], (TreePlace{0, {5, 6}}));
  EXPECT_EQ(places[6], (TreePlace{1, {}}));
  EXPECT_EQ(rank_tree(std::vector<int>{0})[0], TreePlace{});
}

TEST(RankTree, one_edge_into_each_further_node) {
  const std::vector<int> nodes{0, 1, 0, 1, 0, 1};
  const auto places = rank_tree(nodes);
  EXPECT_EQ(places[0].parent, -1);
  EXPECT_THAT(places[0].children, ElementsAre(1, 2, 4));
  EXPECT_THAT(places[1].children, ElementsAre(3, 5));
  for (const int ranks : {2, 9, 40, 128}) {
    for (const int count : {1, 2, 3, 8}) {
      const auto spread = spread_over_nodes(ranks, count);
      const auto tree = rank_tree(spread);
      int crossing = 0, edges = 0;
      for (std::size_t rank = 0; rank < tree.size(); ++rank) {
        for (const int child : tree[rank].children) {
          EXPECT_EQ(tree[static_cast<std::size_t>(child)].parent, static_cast<int>(rank));
          crossing += spread[rank] != spread[static_cast<std::size_t>(child)];
          ++edges;
        }
        int hops = 0;
        for (int at = static_cast<int>(rank); at != 0; at = tree[static_cast<std::size_t>(at)].parent) ++hops;
        EXPECT_LE(hops, 8);
      }
      EXPECT_EQ(edges, ranks - 1);
      EXPECT_EQ(crossing, std::min(count, ranks) - 1);
    }
  }
}

TEST(RankRing, ranks_of_a_node_are_neighbours) {
  EXPECT_THAT(rank_ring(std::vector<int>{0, 1, 0, 1, 0}), ElementsAre(0, 2, 4, 1, 3));
  EXPECT_THAT(rank_ring(std::vector<int>{0, 0, 0}), ElementsAre(0, 1, 2));
  EXPECT_THAT(rank_ring(std::vector<int>{-1}), ElementsAre(0));
}

TEST(HelpOrder, the_own_node_first) {
  EXPECT_THAT(help_order(std::vector<int>{0, 0, 1, 1}, 3), ElementsAre(3, 2, 0, 1));
  EXPECT_THAT(help_order(std::vector<int>{0, 0, 0}, 1), ElementsAre(1, 2, 0));
  EXPECT_THAT(help_order(std::vector<int>{0, 1, 0, 1}, 0), ElementsAre(0, 2, 1, 3));
}

}  // namespace
}  // namespace gpubench
