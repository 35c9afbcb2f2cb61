#include "core/comm/local/local_ring.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/comm/reduce.h"

namespace gpubench {

LocalRing::LocalRing(LocalGroup& group, int rank) : group_(group), own_(group.member(rank)) {
  const std::vector<int>& ring = group.ring();
  ranks_ = ring.size();
  place_ = static_cast<std::size_t>(std::ranges::find(ring, rank) - ring.begin());
  left_ = ring[(place_ + ranks_ - 1) % ranks_];
}

void LocalRing::all_reduce(const PreparedCollective& local, std::size_t parity, Clock::duration spin) {
  LocalGroup::Member& left = group_.member(left_);
  const Collective& theirs = *left.requests[parity].collective;
  const std::size_t bytes = local.pieces.bytes(), sums = ranks_ - 1, steps = 2 * sums;
  const std::size_t longest = (bytes + ranks_ - 1) / ranks_;
  const auto pieces = static_cast<std::uint32_t>((longest + piece_bytes - 1) / piece_bytes);
  for (std::size_t step = 0; step < steps; ++step) {
    // A part begins at the rank of its own place, with nothing to wait for, and comes on by one rank with each step. No
    // rank writes to what its right neighbour has not read: the sum that comes to be copied has passed that one.
    const std::size_t part = (place_ + 2 * ranks_ - 1 - step) % ranks_;
    const std::size_t begin = bytes * part / ranks_, end = bytes * (part + 1) / ranks_;
    for (std::uint32_t piece = 0; piece < pieces; ++piece) {
      if (step > 0) {
        const auto before = static_cast<std::uint32_t>(step - 1) * pieces + piece + 1;
        group_.wait(left.ring_pieces, pieces_done_ + before, left_, spin);
      }
      {
        const LocalGroup::Work work(group_, own_);
        const std::size_t from = std::min(end, begin + piece * piece_bytes);
        take_over(local, theirs, step < sums, from, std::min(end, from + piece_bytes));
      }
      own_.ring_pieces.raise();
    }
  }
  pieces_done_ += static_cast<std::uint32_t>(steps) * pieces;
}

void LocalRing::take_over(const PreparedCollective& local, const Collective& left, bool adds, std::size_t from,
                          std::size_t to) {
  local.pieces.for_each(from, to, [&](std::size_t tensor, std::size_t first, std::size_t bytes) {
    const TensorView& mine = local.collective.tensors[tensor];
    std::byte* const own = mine.data + first;
    const std::byte* const theirs = left.tensors[tensor].data + first;
    if (!adds) {
      std::memcpy(own, theirs, bytes);
      return;
    }
    const Dtype dtype = mine.type->dtype;
    const std::array<const std::byte*, 2> sources{theirs, own};
    reduce(dtype, local.collective.reduction, sources, {&own, 1}, bytes / size_of(dtype));
  });
}

}  // namespace gpubench
