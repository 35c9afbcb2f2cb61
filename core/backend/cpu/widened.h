// 16-bit floating types where the processor has no arithmetic for them: inputs are widened to float32, the op runs in
// float32, its results are rounded to nearest even. Sums are thus kept in float32, as units for those types do.
#pragma once
#include <memory>

#include "core/backend/backend.h"

namespace gpubench::cpu {

/// Whether oneDNN computes in this type here: float32 everywhere, bfloat16 from AVX-512 on.
bool onednn_computes_in(Dtype dtype);

/// Whether `signature` has a floating type that oneDNN does not compute in here.
bool needs_widening(const Signature& signature);

/// For ops whose kernels leave 16-bit types to oneDNN or never look into them; all others are written for float32.
bool takes_16_bits(const Op& op);
/// Whether `signature` has a float16 or bfloat16.
bool has_16_bits(const Signature& signature);

/// Which types are widened.
using IsNarrow = bool (*)(Dtype);
/// float16 and bfloat16.
bool has_16_bits(Dtype dtype);

using PlanIn32Bits = std::unique_ptr<Kernel> (*)(const Op&, const Signature&, Device&);
/// An output in place of an input is rounded back into it after each run. The kernel is named after the one that
/// computes: "float32:onednn:jit:avx2".
std::unique_ptr<Kernel> plan_widened(const Op& op, const Signature& signature, Device& device, PlanIn32Bits plan,
                                     IsNarrow is_narrow);

/// plan_widened by a typed planner; what oneDNN does not compute in is narrow unless told otherwise.
template <class O, std::unique_ptr<Kernel> (*F)(const O&, const Signature&, Device&)>
std::unique_ptr<Kernel> plan_widened(
    const O& op, const Signature& signature, Device& device,
    IsNarrow is_narrow = [](Dtype dtype) { return !onednn_computes_in(dtype); }) {
  const PlanIn32Bits plan = [](const Op& same, const Signature& wide, Device& on) {
    return F(static_cast<const O&>(same), wide, on);
  };
  return plan_widened(op, signature, device, plan, is_narrow);
}

}  // namespace gpubench::cpu
