// An all-reduce around a ring of the ranks, in place. The tensors are cut into as many parts as there are ranks. First
// the sum of each part goes around, and every rank adds its own to what its left neighbour has; then the sums go around
// once more and are copied. Both pass a rank in pieces, so that its neighbours work on others of them meanwhile.
#pragma once
#include <cstdint>

#include "core/comm/local/local_group.h"

namespace gpubench {

class LocalRing {
 public:
  LocalRing(LocalGroup& group, int rank);

  /// All ranks have met with `parity` and hold like tensors. Returns when this rank has its result; its neighbour may
  /// still read it. The order of a sum depends on its part alone; 16-bit types are rounded by every rank that adds to
  /// one. Throws PeerLost.
  void all_reduce(const PreparedCollective& local, std::size_t parity, Clock::duration spin);

 private:
  void take_over(const PreparedCollective& local, const Collective& left, bool adds, std::size_t from, std::size_t to);

  LocalGroup& group_;
  LocalGroup::Member& own_;
  int left_;
  std::size_t ranks_, place_;      // in the ring
  std::uint32_t pieces_done_ = 0;  // of the all-reduces before; the same on all ranks
};

}  // namespace gpubench
