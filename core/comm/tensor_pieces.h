// A list of tensors seen as one sequence of bytes and divided into ranges without copying.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/tensor/tensor_view.h"

namespace gpubench {

class TensorPieces {
 public:
  /// Cuts are at multiples of this within a tensor, so that no two ranks write to one cache line and no element is cut.
  static constexpr std::size_t grain = 64;

  /// Keeps its allocation.
  void assign(std::span<const TensorView> tensors) {
    ends_.clear();
    std::size_t end = 0;
    for (const TensorView& tensor : tensors) ends_.push_back(end += tensor.type->bytes());
  }
  std::size_t bytes() const { return ends_.empty() ? 0 : ends_.back(); }

  /// Calls visit(tensor, first_byte, bytes) for the part of each tensor in [from, to). Adjacent ranges cover each byte
  /// once.
  template <class Visit>
  void for_each(std::size_t from, std::size_t to, const Visit& visit) const {
    auto tensor = static_cast<std::size_t>(std::ranges::upper_bound(ends_, from) - ends_.begin());
    for (; tensor < ends_.size(); ++tensor) {
      const std::size_t begin = tensor == 0 ? 0 : ends_[tensor - 1], end = ends_[tensor];
      if (begin >= to) break;
      const std::size_t first = from <= begin ? 0 : (from - begin) / grain * grain;
      const std::size_t last = to >= end ? end - begin : (to - begin) / grain * grain;
      if (first < last) visit(tensor, first, last - first);
    }
  }

 private:
  std::vector<std::size_t> ends_;
};

}  // namespace gpubench
