#include "core/backend/cpu/dispatch.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench::cpu {

void refuse_dtype(std::string_view op, Dtype dtype) {
  throw Error(fmt::format("cpu: {}: {} is not supported; cast to another type first", op, to_string(dtype)));
}

}  // namespace gpubench::cpu
