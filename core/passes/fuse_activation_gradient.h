// The derivative of a dense layer's activation into the product that makes its input, on devices that have it as an
// epilogue; the layer's own product then leaves what the epilogue reads, a mask for relu.
#pragma once
#include "core/passes/pass.h"

namespace gpubench {

Program fuse_activation_gradient(Program program, const Fuses& fuses);

}  // namespace gpubench
