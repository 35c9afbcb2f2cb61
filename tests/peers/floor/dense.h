// The three products of a dense layer in oneDNN's own calls, with the kernel kept in the format that the library likes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/peers/floor/piece.h"

namespace gpubench::peers {

struct DenseSize {
  std::int64_t batch, in, out;
  bool relu;  ///< fused into the forward product
};

/// Forward (with bias), gradient of the kernel and, unless `first`, gradient of the input.
std::vector<Piece> dense_pieces(const std::string& layer, const DenseSize& size, bool first, const Teams& teams,
                                Seconds budget);

}  // namespace gpubench::peers
