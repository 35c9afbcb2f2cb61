// What a collective does to memory.
#pragma once
#include <cstddef>
#include <nccl.h>
#include <span>

namespace gpubench::cuda_on_cpu {

enum class NcclKind { all_reduce, all_gather, reduce_scatter, broadcast };

/// One rank's part in a collective.
struct NcclPart {
  NcclKind kind;
  const std::byte* from;
  std::byte* to;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t reduction;
  int root;
};

/// Of what a rank puts in.
std::size_t bytes_in(const NcclPart& part, std::size_t ranks);
/// Whether all ranks ask for the same.
bool is_one_collective(std::span<const NcclPart> parts);
/// Carries it out, for all ranks at once that have somewhere to write to; sums in the order of ranks, in double or 64
/// bits.
void exchange(std::span<const NcclPart> parts);

}  // namespace gpubench::cuda_on_cpu
