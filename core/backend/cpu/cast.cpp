// Casts: one loop per pair of types. They are apart from the other element-wise ops because both take long to compile.
#include "core/ops/cast.h"

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/elementwise.h"
#include "core/backend/kernel_table.h"

namespace gpubench::cpu {
namespace {

std::unique_ptr<Kernel> plan_cast(const Cast& op, const Signature& signature, Device&) {
  return dispatch(Everything{}, op.name(), signature.inputs[0].dtype, [&]<class From>() {
    return dispatch(Everything{}, op.name(), op.dtype,
                    [&]<class To>() { return elementwise<To, From>(op.name(), CastTo<To>{}, signature); });
  });
}

}  // namespace

void add_cast(KernelTable& table) {
  add_row<&plan_cast>(table);
}

}  // namespace gpubench::cpu
