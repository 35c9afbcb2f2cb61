// Divides the elements of many tensors among threads, as if the tensors were concatenated.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/tensor/tensor_type.h"

namespace gpubench::cpu {

/// Elements [begin, end) of one tensor.
struct Segment {
  std::size_t tensor;
  std::int64_t begin, end;
};

/// Equal shares, one per thread, cut at cache-line multiples of float32. `total`: elements of all tensors.
inline std::vector<std::vector<Segment>> partition(std::span<const TensorType> tensors, int threads,
                                                   std::int64_t total) {
  constexpr std::int64_t line = 16;
  std::vector<std::vector<Segment>> shares(static_cast<std::size_t>(threads));
  std::int64_t before = 0;  // elements of all earlier tensors
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::int64_t size = tensors[i].elements();
    for (std::int64_t t = 0; t < threads; ++t) {
      const auto cut = [&](std::int64_t share) {
        const std::int64_t inside = std::clamp<std::int64_t>(total * share / threads - before, 0, size);
        return inside == size ? size : inside / line * line;
      };
      const Segment segment{i, cut(t), cut(t + 1)};
      if (segment.begin < segment.end) shares[static_cast<std::size_t>(t)].push_back(segment);
    }
    before += size;
  }
  return shares;
}

}  // namespace gpubench::cpu
