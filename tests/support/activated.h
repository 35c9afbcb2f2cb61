// What an epilogue's activation makes of a number, in plain double precision.
#pragma once
#include "core/ops/activation.h"

namespace gpubench::support {

double activated(Activation activation, double x);

}  // namespace gpubench::support
