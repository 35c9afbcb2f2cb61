// Whether a collective can be carried out, and whether ranks ask for the same one.
#pragma once
#include <cstdint>
#include <string>

#include "core/comm/collective.h"

namespace gpubench {

/// Throws Error for what no communicator of `ranks` ranks can do: a root that is not there, types that cannot be added,
/// tensors of all_gather and reduce_scatter that do not fit each other.
void check_collective(const Collective& collective, int ranks);

/// Equal for equal requests (kind, reduction, root, types), and different for others but for one in 2^64.
std::uint64_t signature(const Collective& collective);

/// Why two ranks' requests do not fit: "rank 0 has float32[3, 2], rank 1 float32[3, 4] (tensor 1 of 2)".
std::string difference(int rank, const Collective& mine, int other_rank, const Collective& others);

}  // namespace gpubench
