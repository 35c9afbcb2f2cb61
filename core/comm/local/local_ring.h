// In-place all-reduce around a ring of ranks. The tensors are cut into one part per rank. In the first round, every
// rank adds its own values to the partial sum of its left neighbour; in the second, the finished sums are copied
// around. Both rounds go piece by piece, so that neighbours work on different pieces at the same time.
#pragma once
#include <cstdint>

#include "core/comm/local/local_group.h"

namespace gpubench {

class LocalRing {
 public:
  LocalRing(LocalGroup& group, int rank);

  /// All ranks have met with `parity` and hold tensors of equal types. Returns when this rank has its result; its
  /// neighbour may still be reading it. The order of a sum depends only on its part; 16-bit types are rounded at every
  /// rank that adds. Throws PeerLost.
  void all_reduce(const PreparedCollective& local, std::size_t parity, Clock::duration spin);

 private:
  void take_over(const PreparedCollective& local, const Collective& left, bool adds, std::size_t from, std::size_t to);

  LocalGroup& group_;
  LocalGroup::Member& own_;
  int left_;
  std::size_t ranks_, place_;      // place_: position in the ring
  std::uint32_t pieces_done_ = 0;  // in all earlier all-reduces; equal on all ranks
};

}  // namespace gpubench
