#include "core/backend/cuda/refuse.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench::cuda {

void refuse(const Op& op, std::string_view reason) {
  throw Error(fmt::format("cuda: {}: {}", op.name(), reason));
}

void require_floating(const Op& op, const TensorType& type) {
  if (is_floating(type.dtype)) return;
  refuse(op, fmt::format("{} is not supported; float32, float16 and bfloat16 are", to_string(type.dtype)));
}

}  // namespace gpubench::cuda
