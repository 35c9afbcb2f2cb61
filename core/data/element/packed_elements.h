// Small elements side by side in memory, written there by their source: handing over such an element as an Element
// costs more than copying its bytes.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/data/types.h"
#include "core/tensor/host_tensor.h"
#include "core/tensor/tensor_view.h"

namespace gpubench {

class PackedElements {
 public:
  /// Elements of fixed types that are cheaper to copy than to hand over.
  static bool serves(std::span<const TensorType> types) {
    // Handing over costs two locks of a pool and a shared owner's count, some 100 ns: what copying this much takes.
    constexpr std::size_t most_bytes = 512;
    return !types.empty() && is_fixed(types) && element_bytes(types) <= most_bytes;
  }

  bool empty() const { return tensors_.empty(); }
  /// Makes room for `count` elements of `types`, whatever was there before. Always of the same types.
  void open(std::span<const TensorType> types, std::int64_t count) {
    tensors_.resize(types.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
      Tensor& tensor = tensors_[i];
      if (tensor.memory.empty()) tensor.type = types[i], tensor.bytes = types[i].bytes();
      const std::size_t bytes = tensor.bytes * static_cast<std::size_t>(count);
      if (!tensor.memory.empty() && tensor.memory.bytes() >= bytes) continue;
      tensor.memory = HostTensor(TensorType{{static_cast<std::int64_t>(bytes)}, Dtype::u8});
    }
  }
  /// Views of element `index`, one per tensor, valid until open().
  void view(std::int64_t index, std::span<TensorView> views) const {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const Tensor& tensor = tensors_[i];
      views[i] = {&tensor.type, tensor.memory.data() + static_cast<std::size_t>(index) * tensor.bytes};
    }
  }
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
