// The table of everything this backend can plan.
#pragma once
#include "core/backend/kernel_table.h"

namespace gpubench::cuda {

const KernelTable& kernels();

}  // namespace gpubench::cuda
