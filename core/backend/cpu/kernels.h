// The CPU's kernel table; kernels.cpp holds the list and nothing else.
#pragma once
#include "core/backend/kernel_table.h"

namespace gpubench::cpu {

const KernelTable& kernels();

}  // namespace gpubench::cpu
