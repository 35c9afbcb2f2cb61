// Makes every op's inputs lie on the op's own device, by one transfer per value and device.
#pragma once
#include "core/passes/pass.h"

namespace gpubench {

Program place_copies(Program program);

}  // namespace gpubench
