#include "core/backend/kernel_table.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {

Planner find_planner(const KernelTable& table, std::string_view backend, const Op& op) {
  const auto row = table.find(typeid(op));
  if (row == table.end()) throw Error(fmt::format("{}: there is no kernel for {}", backend, op.name()));
  return row->second;
}

}  // namespace gpubench
