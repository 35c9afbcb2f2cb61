#include "core/data/element/block_pool.h"

#include <array>
#include <cassert>
#include <fmt/format.h>
#include <mutex>
#include <vector>

#include "core/base/align.h"
#include "core/base/error.h"
#include "core/base/host_memory.h"
#include "core/base/units.h"

namespace gpubench {
namespace {

struct Free {
  std::size_t bytes = 0;
  void operator()(std::byte* memory) const { free_host_memory(memory, bytes); }
};

}  // namespace

struct BlockPool::Block {
  std::size_t capacity = 0;
  std::byte* memory = nullptr;
  /// The owner of the memory: either the heap or the memory pool.
  std::unique_ptr<std::byte, Free> heap;
  Buffer buffer;
  /// Keeps the store alive while the block is in use.
  std::shared_ptr<Store> home;
  /// The shared_ptr's reference count and deleter.
  alignas(std::max_align_t) std::array<std::byte, 128> bookkeeping;

  void grow(std::size_t bytes, MemoryPool* pool) {
    if (bytes <= capacity) return;
    heap.reset();
    buffer = Buffer();
    capacity = 0;
    if (pool != nullptr) {
      buffer = pool->allocate(bytes, "element");
      memory = buffer.data();
    } else {
      heap = std::unique_ptr<std::byte, Free>(allocate_host_memory(bytes, HostTensor::alignment), Free{bytes});
      memory = heap.get();
    }
    if (memory == nullptr) {
      throw OutOfMemory(fmt::format("data: no host memory for an element of {}{}",
                                    format_bytes(static_cast<double>(bytes)), host_memory_limit()));
    }
    capacity = bytes;
  }
};

struct BlockPool::Store {
  MemoryPool* memory = nullptr;
  std::mutex mutex;
  std::vector<std::unique_ptr<Block>> unused;
  std::size_t made = 0;

  std::unique_ptr<Block> take() {
    const std::lock_guard lock(mutex);
    if (unused.empty()) {
      ++made;
      unused.reserve(made);
      return std::make_unique<Block>();
    }
    std::unique_ptr<Block> block = std::move(unused.back());
    unused.pop_back();
    return block;
  }

  void give_back(std::unique_ptr<Block> block) noexcept {
    const std::lock_guard lock(mutex);
    unused.push_back(std::move(block));
  }
};

/// Places a shared_ptr's reference count in the block. deallocate() is called after the last owner, shared or weak, is
/// gone; it returns the block to the pool.
template <class T>
struct BlockPool::OwnerAllocator {
  using value_type = T;
  Block* block = nullptr;

  explicit OwnerAllocator(Block* owned) : block(owned) {}
  template <class U>
  OwnerAllocator(const OwnerAllocator<U>& other) : block(other.block) {}

  T* allocate(std::size_t count) {
    static_assert(sizeof(T) <= sizeof(Block::bookkeeping) && alignof(T) <= alignof(std::max_align_t));
    assert(count == 1);
    static_cast<void>(count);
    return reinterpret_cast<T*>(block->bookkeeping.data());
  }
  void deallocate(T* /*bookkeeping*/, std::size_t /*count*/) noexcept {
    const std::shared_ptr<Store> home = std::move(block->home);
    home->give_back(std::unique_ptr<Block>(block));
  }
  template <class U>
  bool operator==(const OwnerAllocator<U>& other) const {
    return block == other.block;
  }
};

BlockPool::BlockPool(MemoryPool* memory) : store_(std::make_shared<Store>()) {
  store_->memory = memory;
}
BlockPool::~BlockPool() = default;

std::shared_ptr<std::byte> BlockPool::take(std::size_t bytes) {
  std::unique_ptr<Block> block = store_->take();
  try {
    block->grow(bytes, store_->memory);
  } catch (...) {
    store_->give_back(std::move(block));
    throw;
  }
  block->home = store_;
  Block* const out = block.release();
  return {out->memory, [](std::byte*) {}, OwnerAllocator<std::byte>(out)};
}

void BlockPool::allocate(const TensorType& type, HostTensor& tensor) {
  tensor.release();
  tensor.assign(type, take(std::max(align_up(type.bytes(), HostTensor::alignment), HostTensor::alignment)));
}

void BlockPool::allocate(TensorTypes types, Element& element) {
  release(element);
  std::size_t total = 0;
  for (const TensorType& type : types) total += align_up(type.bytes(), HostTensor::alignment);
  const std::shared_ptr<std::byte> block = take(std::max(total, HostTensor::alignment));

  element.resize(types.size());
  std::byte* start = block.get();
  for (std::size_t i = 0; i < types.size(); ++i) {
    element[i].assign(types[i], std::shared_ptr<std::byte>(block, start));
    start += align_up(types[i].bytes(), HostTensor::alignment);
  }
}

}  // namespace gpubench
