#include "core/backend/cuda/unary.h"

#include "core/backend/cuda/elementwise.h"
#include "core/math/functions.h"
#include "core/math/unary.h"
#include "core/ops/unary.h"

namespace gpubench::cuda {

void add_unary(KernelTable& table) {
#define GPUBENCH_ROW(name, Type, domain, flops) table.emplace(typeid(Type), &plan_function<math::Type>);
  GPUBENCH_UNARY_FUNCTIONS(GPUBENCH_ROW)
#undef GPUBENCH_ROW
}

std::unique_ptr<Kernel> plan_cast(const Cast& op, const Signature& signature, Device& device) {
  return plan_elementwise(op, signature, device, &launch_cast);
}

}  // namespace gpubench::cuda
