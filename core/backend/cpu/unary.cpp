#include "core/backend/cpu/unary.h"

#include "core/backend/cpu/function_kernel.h"
#include "core/math/unary.h"
#include "core/ops/unary.h"

namespace gpubench::cpu {

void add_unary(KernelTable& table) {
#define GPUBENCH_ROW(name, Type, domain, flops) \
  table.emplace(typeid(Type), &plan_function<math::Type, math::Domain::domain, flops>);
  GPUBENCH_UNARY_FUNCTIONS(GPUBENCH_ROW)
#undef GPUBENCH_ROW
}

}  // namespace gpubench::cpu
