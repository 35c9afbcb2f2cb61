// A backend's list of what it can plan: op type to planner. The table of each backend is one file that holds nothing
// else, so adding an op is one row.
#pragma once
#include <memory>
#include <typeindex>
#include <unordered_map>

#include "core/backend/backend.h"

namespace gpubench {

using Planner = std::unique_ptr<Kernel> (*)(const Op&, const Signature&, Device&);
using KernelTable = std::unordered_map<std::type_index, Planner>;

/// A row from a typed planner: planner<Conv2D, &plan_conv2d>().
template <class O, std::unique_ptr<Kernel> (*F)(const O&, const Signature&, Device&)>
KernelTable::value_type planner() {
  return {typeid(O), [](const Op& op, const Signature& s, Device& d) { return F(static_cast<const O&>(op), s, d); }};
}

/// The planner of `op`, or Error naming the backend and the op.
Planner find_planner(const KernelTable& table, std::string_view backend, const Op& op);

}  // namespace gpubench
