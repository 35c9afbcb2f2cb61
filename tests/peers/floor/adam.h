// The update alone: Adam over one flat array, as vectorised loops, which is the least any engine has to do.
#pragma once
#include <cstdint>

#include "tests/peers/floor/piece.h"

namespace gpubench::peers {

/// Adam(0.001, 0.9, 0.999, 1e-7) over `parameters` float32 values.
Piece adam_piece(std::int64_t parameters, const Teams& teams, Seconds budget);

}  // namespace gpubench::peers
