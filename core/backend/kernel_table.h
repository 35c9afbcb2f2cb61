// A backend's table of kernels: op type to planner. Each family of ops has one source per backend, which plans the
// family's ops and adds their rows.
#pragma once
#include <memory>
#include <type_traits>
#include <typeindex>
#include <unordered_map>

#include "core/backend/backend.h"

namespace gpubench {

using Planner = std::unique_ptr<Kernel> (*)(const Op&, const Signature&, Device&);
using KernelTable = std::unordered_map<std::type_index, Planner>;

namespace detail {
template <class O>
std::type_identity<O> op_type(std::unique_ptr<Kernel> (*)(const O&, const Signature&, Device&));
}  // namespace detail

/// The type of op that a typed planner takes: Conv2D for &plan_conv2d.
template <auto plan>
using PlannedOp = typename decltype(detail::op_type(plan))::type;

/// Adapts a typed planner to Planner.
template <auto plan>
std::unique_ptr<Kernel> plan_any(const Op& op, const Signature& signature, Device& device) {
  return plan(static_cast<const PlannedOp<plan>&>(op), signature, device);
}

/// Adds the row of a typed planner: add_row<&plan_conv2d>(table).
template <auto plan>
void add_row(KernelTable& table) {
  table.emplace(typeid(PlannedOp<plan>), &plan_any<plan>);
}

/// The kernel of an op whose outputs have no element, which does nothing; nullptr if one has.
std::unique_ptr<Kernel> kernel_without_work(const Signature& signature);

/// Plans `op` by its row. Where no output has an element nothing is computed, and no planner nor library is asked.
/// Throws Error naming the backend and the op where there is no row.
std::unique_ptr<Kernel> plan_by(const KernelTable& table, std::string_view backend, const Op& op,
                                const Signature& signature, Device& device);

}  // namespace gpubench
