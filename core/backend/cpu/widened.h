// 16-bit floating types on processors without arithmetic for them: inputs are widened to float32, the op runs in
// float32, and results are rounded to nearest even. Sums are thus kept in float32, as hardware for these types does.
#pragma once
#include <memory>

#include "core/backend/kernel_table.h"

namespace gpubench::cpu {

/// Whether oneDNN computes in this type on this processor: float32 always, bfloat16 from AVX-512 on.
bool onednn_computes_in(Dtype dtype);

/// Whether `signature` has a floating type in which oneDNN cannot compute here.
bool needs_widening(const Signature& signature);

/// Whether a type must be widened.
using IsNarrow = bool (*)(Dtype);
/// float16 and bfloat16.
bool has_16_bits(Dtype dtype);

/// The op in float32. An output that shares an input's memory is rounded back into it after each run. The kernel is
/// named after the inner one: "float32:onednn:jit:avx2".
std::unique_ptr<Kernel> plan_widened(const Op& op, const Signature& signature, Device& device, Planner plan,
                                     IsNarrow is_narrow);

/// plan_widened with a typed planner; by default it widens the types in which oneDNN cannot compute.
template <auto plan>
std::unique_ptr<Kernel> plan_widened(
    const PlannedOp<plan>& op, const Signature& signature, Device& device,
    IsNarrow is_narrow = [](Dtype dtype) { return !onednn_computes_in(dtype); }) {
  return plan_widened(op, signature, device, &plan_any<plan>, is_narrow);
}

/// An element-wise op as a chain of one step (elementwise_chain.cpp), which converts 16-bit types block by block
/// without extra memory. Null for other ops and for broadcasts that chains do not support.
std::unique_ptr<Kernel> plan_as_chain(const Op& op, const Signature& signature, Device& device);

/// Uses a planner written for float32: 16-bit types run as a chain if possible, else widened.
std::unique_ptr<Kernel> plan_in_float32(const Op& op, const Signature& signature, Device& device, Planner plan);

template <auto plan>
std::unique_ptr<Kernel> plan_in_float32(const Op& op, const Signature& signature, Device& device) {
  return plan_in_float32(op, signature, device, &plan_any<plan>);
}

/// Adds the row of a typed planner that is written for float32. A planner added with add_row handles 16-bit types
/// itself: oneDNN computes in them, its loops widen per element, or it only moves elements.
template <auto plan>
void add_float32_row(KernelTable& table) {
  table.emplace(typeid(PlannedOp<plan>), &plan_in_float32<plan>);
}

}  // namespace gpubench::cpu
