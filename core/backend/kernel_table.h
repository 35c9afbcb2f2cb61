// A backend's list of what it can plan: op type to planner. The table of each backend is one file that holds nothing
// else, so adding an op is one row.
#pragma once
#include <memory>
#include <typeindex>
#include <unordered_map>

#include "core/backend/backend.h"

namespace gpubench {

struct PlannerRow {
  std::unique_ptr<Kernel> (*plan)(const Op&, const Signature&, Device&) = nullptr;
  bool takes_layouts = false;
};
using KernelTable = std::unordered_map<std::type_index, PlannerRow>;

/// A row from a typed planner: planner<Conv2D, &plan_conv2d>().
template <class O, std::unique_ptr<Kernel> (*F)(const O&, const Signature&, Device&)>
KernelTable::value_type planner(bool takes_layouts = false) {
  return {
      typeid(O),
      {[](const Op& op, const Signature& s, Device& d) { return F(static_cast<const O&>(op), s, d); }, takes_layouts}};
}

/// The row of `op`, or Error naming the backend and the op.
const PlannerRow& find_planner(const KernelTable& table, std::string_view backend, const Op& op);

}  // namespace gpubench
