// Small elements, contiguous in memory, into which their source writes: for these, copying the bytes is cheaper than
// handing over an Element.
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
  /// Whether elements of these types are fixed and cheaper to copy than to hand over.
  static bool serves(TensorTypes types) {
    // Handing over takes two locks of a pool and a reference count, about 100 ns: the time to copy this many bytes.
    constexpr std::size_t most_bytes = 512;
    return !types.empty() && is_fixed(types) && element_bytes(types) <= most_bytes;
  }

  bool empty() const { return tensors_.empty(); }
  /// Makes room for `count` elements of `types`, discarding earlier content. The types must be the same in all calls.
  void open(TensorTypes types, std::int64_t count) {
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
