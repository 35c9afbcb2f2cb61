#include "core/data/element/packed_elements.h"

#include "core/data/dataset.h"
#include "core/data/element_bytes.h"

namespace gpubench {
namespace {

/// Handing over costs two locks of a pool and a shared owner's count, some 100 ns: what copying this much takes.
constexpr std::size_t most_bytes = 512;

}  // namespace

bool PackedElements::serves(std::span<const TensorType> types) {
  return !types.empty() && is_fixed(types) && element_bytes(types) <= most_bytes;
}

void PackedElements::open(std::span<const TensorType> types, std::int64_t count) {
  tensors_.resize(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    Tensor& tensor = tensors_[i];
    if (tensor.memory.empty()) tensor.type = types[i], tensor.bytes = types[i].bytes();
    const std::size_t bytes = tensor.bytes * static_cast<std::size_t>(count);
    if (!tensor.memory.empty() && tensor.memory.bytes() >= bytes) continue;
    tensor.memory = HostTensor(TensorType{{static_cast<std::int64_t>(bytes)}, Dtype::u8});
  }
}

void PackedElements::view(std::int64_t index, std::span<TensorView> views) const {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& tensor = tensors_[i];
    views[i] = {&tensor.type, tensor.memory.data() + static_cast<std::size_t>(index) * tensor.bytes};
  }
}

}  // namespace gpubench
