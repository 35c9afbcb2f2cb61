// 16-bit floating types where the processor has no arithmetic for them: inputs are widened to float32, the op runs in
// float32, its results are rounded to nearest even. Sums are thus kept in float32, as units for those types do.
#pragma once
#include <memory>

#include "core/backend/kernel_table.h"

namespace gpubench::cpu {

/// Whether oneDNN computes in this type here: float32 everywhere, bfloat16 from AVX-512 on.
bool onednn_computes_in(Dtype dtype);

/// Whether `signature` has a floating type that oneDNN does not compute in here.
bool needs_widening(const Signature& signature);

/// Which types are widened.
using IsNarrow = bool (*)(Dtype);
/// float16 and bfloat16.
bool has_16_bits(Dtype dtype);

/// The op in float32. An output in place of an input is rounded back into it after each run. The kernel is named after
/// the one that computes: "float32:onednn:jit:avx2".
std::unique_ptr<Kernel> plan_widened(const Op& op, const Signature& signature, Device& device, Planner plan,
                                     IsNarrow is_narrow);

/// plan_widened by a typed planner; what oneDNN does not compute in is narrow unless told otherwise.
template <auto plan>
std::unique_ptr<Kernel> plan_widened(
    const PlannedOp<plan>& op, const Signature& signature, Device& device,
    IsNarrow is_narrow = [](Dtype dtype) { return !onednn_computes_in(dtype); }) {
  return plan_widened(op, signature, device, &plan_any<plan>, is_narrow);
}

/// An element-wise op as a chain of one step (elementwise_chain.cpp), which converts 16-bit types block by block and
/// needs no memory for it; null for other ops, and where an input stretches in a way that chains have no word for.
std::unique_ptr<Kernel> plan_as_chain(const Op& op, const Signature& signature, Device& device);

/// By a planner that is written for float32: with 16-bit types as a chain where that is possible, else widened.
std::unique_ptr<Kernel> plan_in_float32(const Op& op, const Signature& signature, Device& device, Planner plan);

template <auto plan>
std::unique_ptr<Kernel> plan_in_float32(const Op& op, const Signature& signature, Device& device) {
  return plan_in_float32(op, signature, device, &plan_any<plan>);
}

/// Adds the row of a typed planner that is written for float32. A planner that add_row adds takes 16-bit types itself:
/// oneDNN computes in them, its loops widen element by element, or it never looks into elements.
template <auto plan>
void add_float32_row(KernelTable& table) {
  table.emplace(typeid(PlannedOp<plan>), &plan_in_float32<plan>);
}

}  // namespace gpubench::cpu
