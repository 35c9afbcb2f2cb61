// What ranks do together with their tensors. Every rank of a communicator asks for the same collectives, of the same
// types, in the same order.
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

/// One collective with its memory. The tensors' types outlive it.
struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Reduction reduction = Reduction::sum;  ///< of all_reduce and reduce_scatter
  int root = 0;                          ///< of broadcast
  /// all_reduce, broadcast: any number of tensors of any types, in place. all_gather: { [n], [size, n] }; the own part
  /// may lie at its place in the whole. reduce_scatter: { [size, n], [n] }.
  std::vector<TensorView> tensors;
  /// Bytes that one rank puts in, as nccl-tests counts them: of all_gather and reduce_scatter those of the whole.
  std::size_t bytes() const;
};

/// Throws Error for what no communicator of `ranks` ranks can do: a root that is not there, types that cannot be added,
/// tensors of all_gather and reduce_scatter that do not fit each other.
void check_collective(const Collective& collective, int ranks);

/// Equal for equal requests (kind, reduction, root, types), and different for others but for one in 2^64.
std::uint64_t signature(const Collective& collective);

/// Why two ranks' requests do not fit: "rank 0 has float32[3, 2], rank 1 float32[3, 4] (tensor 1 of 2)".
std::string difference(int rank, const Collective& mine, int other_rank, const Collective& others);

/// A list of tensors as one row of bytes, cut into ranges without copying any: how the work on a list is divided.
class TensorPieces {
 public:
  /// Cuts lie on multiples of this within a tensor: no two ranks write to one cache line, and no element is cut.
  static constexpr std::size_t grain = 64;

  /// Reuses its memory.
  void assign(std::span<const TensorView> tensors) {
    ends_.clear();
    std::size_t end = 0;
    for (const TensorView& tensor : tensors) ends_.push_back(end += tensor.type->bytes());
  }
  std::size_t bytes() const { return ends_.empty() ? 0 : ends_.back(); }

  /// Calls visit(tensor, first_byte, bytes) for what of each tensor lies in [from, to) of the row. Ranges that meet
  /// cover everything once.
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
