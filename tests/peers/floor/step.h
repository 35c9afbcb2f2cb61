// The models of the comparison, as lists of vendor calls.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/peers/floor/piece.h"

namespace gpubench::peers {

/// The pieces of one training step of "M1", "M2" or "M3". Throws std::invalid_argument for another name.
std::vector<Piece> step_pieces(const std::string& model, std::int64_t batch, int threads, Seconds budget);

}  // namespace gpubench::peers
