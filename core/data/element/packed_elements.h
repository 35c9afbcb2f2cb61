// Small elements side by side, written there by their source: handing such an element over alone costs more than its
// bytes do.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/tensor/host_tensor.h"
#include "core/tensor/tensor_view.h"

namespace gpubench {

class PackedElements {
 public:
  /// Elements of fixed types that are cheaper to copy than to hand over.
  static bool serves(std::span<const TensorType> types);

  bool empty() const { return tensors_.empty(); }
  /// Makes room for `count` elements of `types`, whatever was there before. Always of the same types.
  void open(std::span<const TensorType> types, std::int64_t count);
  /// Views of element `index`, one per tensor, valid until open().
  void view(std::int64_t index, std::span<TensorView> views) const;
  std::size_t width() const { return tensors_.size(); }

 private:
  struct Tensor {
    TensorType type;  // of one element
    std::size_t bytes = 0;
    HostTensor memory;
  };
  std::vector<Tensor> tensors_;
};

}  // namespace gpubench
