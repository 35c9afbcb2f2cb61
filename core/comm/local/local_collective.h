// A collective and what is computed from it once.
#pragma once
#include <cstdint>

#include "core/comm/collective.h"
#include "core/comm/tensor_pieces.h"

namespace gpubench {

struct LocalCollective {
  Collective collective;
  std::uint64_t signature = 0;
  TensorPieces pieces;
};

/// What a rank takes at a time: some microseconds of work, so that ranks end together, and far more than taking costs.
inline constexpr std::size_t piece_bytes = std::size_t{128} << 10;

}  // namespace gpubench
