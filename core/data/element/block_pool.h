// Memory for the elements that a stage creates. A block returns to the pool when its last tensor is destroyed, on any
// thread, even after the pool itself is destroyed. The reference count lies in the block, so a warm pool allocates
// nothing.
#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "core/data/element.h"
#include "core/device/memory_pool.h"

namespace gpubench {

class BlockPool {
 public:
  /// Blocks come from `memory`, which must outlive them, or from the heap if it is nullptr.
  explicit BlockPool(MemoryPool* memory = nullptr);
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// Fills `element` with uninitialized tensors of `types`, next to each other in one block, each 64-byte aligned.
  /// Releases the element's earlier tensors first. Throws OutOfMemory.
  void allocate(TensorTypes types, Element& element);
  /// The same for one tensor in its own block.
  void allocate(const TensorType& type, HostTensor& tensor);

 private:
  struct Block;
  struct Store;
  template <class T>
  struct OwnerAllocator;

  std::shared_ptr<std::byte> take(std::size_t bytes);

  std::shared_ptr<Store> store_;
};

}  // namespace gpubench
