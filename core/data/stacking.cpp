#include "core/data/stacking.h"

#include <fmt/format.h>

namespace gpubench {

std::vector<TensorType> stacked(std::span<const TensorType> types, std::int64_t count) {
  std::vector<TensorType> batch(types.begin(), types.end());
  for (TensorType& type : batch) type.shape.insert(type.shape.begin(), count);
  return batch;
}

Error unequal_shapes(const TensorType& type, const TensorType& expected) {
  return Error(
      fmt::format("batch: an element has {} where the ones before have {}; elements that are stacked need equal shapes",
                  to_string(type), to_string(expected)));
}

}  // namespace gpubench
