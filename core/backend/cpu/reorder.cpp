#include "core/backend/cpu/reorder.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_reorder(const TensorType& type, const LayoutPtr&, Device&) {
  throw Error(fmt::format("cpu: reorder: no kernel of this backend leaves {} in a layout of its own", to_string(type)));
}

}  // namespace gpubench::cpu
