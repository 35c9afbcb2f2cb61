// Collective operations on the tensors of all ranks. All ranks of a communicator must request the same collectives,
// with the same types, in the same order.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/tensor_view.h"

namespace gpubench {

enum class CollectiveKind : std::uint8_t { all_reduce, all_gather, reduce_scatter, broadcast };

/// "all_reduce".
std::string_view to_string(CollectiveKind kind);
/// Throws Error listing the names.
CollectiveKind parse_collective_kind(std::string_view name);

/// One collective and its tensors. The tensors' types must outlive it.
struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Reduction reduction = Reduction::sum;  ///< of all_reduce and reduce_scatter
  int root = 0;                          ///< of broadcast
  /// all_reduce, broadcast: any number of tensors of any types, in place. all_gather: { [n], [size, n] }; the input may
  /// already lie at its place in the output. reduce_scatter: { [size, n], [n] }.
  std::vector<TensorView> tensors;
  /// Bytes that one rank contributes, counted as in nccl-tests: for all_gather and reduce_scatter the size of the
  /// whole.
  std::size_t bytes() const;
};

/// Throws Error for a collective that `ranks` ranks cannot do: a root out of range, types that cannot be added, or
/// tensors of all_gather and reduce_scatter whose sizes do not match.
void check_collective(const Collective& collective, int ranks);

/// A 64-bit hash of the request (kind, reduction, root, types): equal for equal requests.
std::uint64_t signature(const Collective& collective);

/// How two ranks' requests differ: "rank 0 has float32[3, 2], rank 1 float32[3, 4] (tensor 1 of 2)".
std::string difference(int rank, const Collective& mine, int other_rank, const Collective& others);

/// A list of tensors seen as one sequence of bytes and divided into ranges without copying.
class TensorPieces {
 public:
  /// Cuts are at multiples of this within a tensor, so that no two ranks write to one cache line and no element is cut.
  static constexpr std::size_t grain = 64;

  /// Keeps its allocation.
  void assign(std::span<const TensorView> tensors) {
    ends_.clear();
    std::size_t end = 0;
    for (const TensorView& tensor : tensors) ends_.push_back(end += tensor.type->bytes());
  }
  std::size_t bytes() const { return ends_.empty() ? 0 : ends_.back(); }

  /// Calls visit(tensor, first_byte, bytes) for the part of each tensor in [from, to). Adjacent ranges cover each byte
  /// once.
  template <class Visit>
  void for_each(std::size_t from, std::size_t to, const Visit& visit) const {
    auto tensor = static_cast<std::size_t>(std::ranges::upper_bound(ends_, from) - ends_.begin());
    for (; tensor < ends_.size(); ++tensor) {
      const std::size_t begin = tensor == 0 ? 0 : ends_[tensor - 1], end = ends_[tensor];
      if (begin >= to) break;
      const std::size_t first = from <= begin ? 0 : (from - begin) / grain * grain;
      const std::size_t last = to >= end ? end - begin : (to - begin) / grain * grain;
      if (first < last) visit(tensor, first, last - first);
    }
  }

 private:
  std::vector<std::size_t> ends_;
};

}  // namespace gpubench
