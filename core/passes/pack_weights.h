// Lays the weights of products of int8 out in the device's own order, once, where they depend on variables alone.
#pragma once
#include "core/passes/pass.h"

namespace gpubench {

Program pack_weights(Program program);

}  // namespace gpubench
