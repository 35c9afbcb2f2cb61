// The models of the comparison, as lists of vendor calls.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/peers/floor/piece.h"

namespace gpubench::peers {

struct Step {
  std::vector<Piece> pieces;
  Timing time;  ///< of all in turn
};

/// The fastest of three: every piece with one thread, with `threads`, or with what is best for it alone. Where threads
/// sleep between two pieces, waking them can cost more than they save. Throws as step_pieces().
Step fastest_step(const std::string& model, std::int64_t batch, int threads, Seconds budget);

/// The pieces of one training step of "M1", "M2" or "M3". Throws std::invalid_argument for another name.
std::vector<Piece> step_pieces(const std::string& model, std::int64_t batch, const Teams& teams, Seconds budget);

}  // namespace gpubench::peers
