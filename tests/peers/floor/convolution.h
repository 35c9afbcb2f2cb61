// Convolution and max pooling in oneDNN's own calls, in one activation format from the convolution to the pooling.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/peers/floor/piece.h"

namespace gpubench::peers {

/// A valid convolution with stride 1 and a fused relu, then a 2x2 max pooling; the first layer of its model.
struct ConvolutionSize {
  std::int64_t batch, side, channels, filters, kernel;

  std::int64_t out_side() const { return side - kernel + 1; }
  std::int64_t pooled_side() const { return out_side() / 2; }
};

/// Forward of both, then their gradients (no input gradient, there is nothing before the convolution).
/// With `blocked` the library chooses the format of the activations, else it is NHWC.
std::vector<Piece> convolution_pieces(const ConvolutionSize& size, bool blocked, const Teams& teams, Seconds budget);

}  // namespace gpubench::peers
