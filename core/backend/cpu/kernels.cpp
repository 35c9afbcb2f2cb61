#include "core/backend/cpu/kernels.h"

namespace gpubench::cpu {

const KernelTable& kernels() {
  static const KernelTable table{};
  return table;
}

}  // namespace gpubench::cpu
