#include "core/backend/broadcast_plan.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {

Walk row_major(const Shape& shape) {
  Walk walk{0, Strides(shape.size())};
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    walk.strides[i] = stride;
    stride *= shape[i];
  }
  return walk;
}

Walk transposed(const Shape& shape, std::span<const std::int64_t> order) {
  const Walk plain = row_major(shape);
  Walk walk;
  for (const std::int64_t axis : order) walk.strides.push_back(plain.strides[static_cast<std::size_t>(axis)]);
  return walk;
}

Walk reversed(const Shape& shape, const std::vector<bool>& flags) {
  Walk walk = row_major(shape);
  if (element_count(shape) == 0) return walk;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (!flags[i]) continue;
    walk.start += (shape[i] - 1) * walk.strides[i];
    walk.strides[i] = -walk.strides[i];
  }
  return walk;
}

Walk sliced(const Shape& shape, const Shape& begin, const Shape& stride) {
  Walk walk = row_major(shape);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    walk.start += begin[i] * walk.strides[i];
    walk.strides[i] *= stride[i];
  }
  return walk;
}

Strides stretched_strides(const Shape& from, const Shape& to) {
  Strides strides(to.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t extent = from[from.size() - 1 - i];
    if (extent != 1) strides[to.size() - 1 - i] = stride;
    stride *= extent;
  }
  return strides;
}

void merge_dimensions(std::string_view op, Shape& shape, std::span<Strides> strides) {
  std::size_t merged = 0;  // dimensions [0, merged) are done
  const auto move_to = [&](std::size_t to, std::size_t from) {
    for (Strides& input : strides) input[to] = input[from];
  };
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    const bool flat = merged > 0 && std::all_of(strides.begin(), strides.end(), [&](const Strides& input) {
                        return input[merged - 1] == shape[d] * input[d];
                      });
    if (flat) {
      shape[merged - 1] *= shape[d];
      move_to(merged - 1, d);
    } else {
      shape[merged] = shape[d];
      move_to(merged, d);
      ++merged;
    }
  }
  if (merged > max_merged_rank) {
    throw Error(fmt::format("{}: broadcasting over more than {} dimensions is not supported", op, max_merged_rank));
  }
  shape.resize(merged);
  for (Strides& input : strides) input.resize(merged);
}

}  // namespace gpubench
