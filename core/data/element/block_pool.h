// Memory for the elements that a stage makes. A block comes back when the last tensor in it is gone, on whichever
// thread that happens, and may do so after the pool itself is gone; the shared owner's bookkeeping lies in the block,
// so a warm pool allocates nothing.
#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "core/data/element.h"
#include "core/device/memory_pool.h"

namespace gpubench {

class BlockPool {
 public:
  /// Blocks come from `memory`, which must outlive them, or from the heap where that is nullptr.
  explicit BlockPool(MemoryPool* memory = nullptr);
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// Makes `element` uninitialized tensors of `types`, side by side in one block, each 64-byte aligned. What the
  /// element held before is let go of first. Throws OutOfMemory.
  void allocate(std::span<const TensorType> types, Element& element);
  /// The same for one tensor in a block of its own.
  void allocate(const TensorType& type, HostTensor& tensor);
  /// Blocks made so far, in use or not.
  std::size_t blocks() const;

 private:
  struct Block;
  struct Store;
  template <class T>
  struct OwnerAllocator;

  std::shared_ptr<std::byte> take(std::size_t bytes);

  std::shared_ptr<Store> store_;
};

}  // namespace gpubench
