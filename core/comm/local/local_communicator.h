// Ranks that are threads of one process, on devices that work in the host's memory.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/comm/communicator.h"

namespace gpubench {

/// The ways in which ranks of one process add up and hand out.
enum class LocalAlgorithm : std::uint8_t {
  direct,            ///< every rank takes what it needs from all others and computes its own result
  tree,              ///< sums go up a tree of the ranks and the whole comes down
  parts,             ///< every rank reduces a part and writes it to all: each byte is read once and written once
  ring,              ///< sums of parts go around: every rank reads from its neighbour alone
  reduction_to_one,  ///< the first rank does what `parts` does for all
};
std::string_view to_string(LocalAlgorithm algorithm);
/// Of those that an all-reduce may be told to take: all but the last. Throws Error listing their names.
LocalAlgorithm parse_local_algorithm(std::string_view name);

/// A rank for each element: the memory node that it is near. All-reduces take the way that suits their size, or
/// `all_reduce`. A communicator that is destroyed makes the waits of the others end with PeerLost.
std::vector<std::unique_ptr<Communicator>> make_local_communicators(std::vector<int> node_of_rank,
                                                                    std::optional<LocalAlgorithm> all_reduce);

}  // namespace gpubench
