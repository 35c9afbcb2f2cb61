// What ranks do together with their tensors. Every rank of a communicator asks for the same collectives, of the same
// types, in the same order.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/tensor/tensor_view.h"

namespace gpubench {

enum class Reduction : std::uint8_t { sum, max };
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

}  // namespace gpubench
