// Products of int8 whose result the next layer quantizes give int8 themselves: what stands between two such layers is a
// quarter as large, and is written once.
#pragma once
#include "core/passes/pass.h"

namespace gpubench {

/// quantized matmul or convolution -> [reshape ...] -> quantize by one scale, each read by the next alone.
Program fuse_quantize(Program program);

}  // namespace gpubench
