// Ranks that are threads of one process, on devices that use host memory.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/comm/communicator.h"

namespace gpubench {

/// Algorithms for reducing and distributing among the ranks of one process.
enum class LocalAlgorithm : std::uint8_t {
  direct,            ///< every rank reads from all others and computes its own result
  tree,              ///< sums go up a tree of the ranks, the result comes down
  parts,             ///< every rank reduces one part and writes it to all: each byte is read once and written once
  ring,              ///< sums of parts go around: every rank reads only from its neighbour
  reduction_to_one,  ///< the first rank does all the work of `parts`
};
std::string_view to_string(LocalAlgorithm algorithm);
/// Parses an algorithm for all-reduces: all but the last are possible. Throws Error listing the names.
LocalAlgorithm parse_local_algorithm(std::string_view name);

/// One rank for each element of `node_of_rank`: the NUMA node that it is close to. All-reduces use `all_reduce`, or the
/// algorithm that suits their size. When a communicator is destroyed, the waits of the others end with PeerLost.
std::vector<std::unique_ptr<Communicator>> make_local_communicators(std::vector<int> node_of_rank,
                                                                    std::optional<LocalAlgorithm> all_reduce);

}  // namespace gpubench
