// How threads share the elements of many tensors: as if these stood one behind the other, whatever their shapes.
#pragma once
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

/// Equally long shares, one per thread, cut at multiples of a cache line of float32. `total` counts all elements.
std::vector<std::vector<Segment>> partition(std::span<const TensorType> tensors, int threads, std::int64_t total);

}  // namespace gpubench::cpu
