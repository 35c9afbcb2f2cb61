#include "core/backend/cpu/cast.h"

#include "core/backend/cpu/elementwise.h"
#include "core/backend/cpu/stored.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_cast(const Cast& op, const Signature& signature, Device&) {
  return dispatch(Everything{}, op.name(), signature.inputs[0].dtype, [&]<class From>() {
    return dispatch(Everything{}, op.name(), op.dtype,
                    [&]<class To>() { return elementwise<To, From>(op.name(), CastTo<To>{}, signature); });
  });
}

}  // namespace gpubench::cpu
