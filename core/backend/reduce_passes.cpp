#include "core/backend/reduce_passes.h"

#include <algorithm>
#include <span>

namespace gpubench {

std::vector<ReducePass> reduce_passes(const Shape& shape, const std::vector<bool>& reduced) {
  Shape left = shape;
  std::vector<ReducePass> passes;
  for (std::size_t last = shape.size(); last > 0;) {
    if (!reduced[last - 1]) {
      --last;
      continue;
    }
    std::size_t first = last - 1;
    while (first > 0 && reduced[first - 1]) --first;
    const std::span<const std::int64_t> all(left);
    passes.push_back({element_count(all.first(first)), element_count(all.subspan(first, last - first)),
                      element_count(all.subspan(last))});
    std::fill(left.begin() + static_cast<std::ptrdiff_t>(first), left.begin() + static_cast<std::ptrdiff_t>(last), 1);
    last = first;
  }
  if (passes.empty()) passes.push_back({element_count(shape), 1, 1});
  return passes;
}

ReducePass axis_pass(const Shape& shape, std::int64_t axis) {
  const std::span<const std::int64_t> all(shape);
  const auto at = static_cast<std::size_t>(axis < 0 ? axis + std::ssize(shape) : axis);
  return {element_count(all.first(at)), shape[at], element_count(all.subspan(at + 1))};
}

}  // namespace gpubench
