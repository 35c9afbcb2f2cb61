// A pool that counts what a pipeline's last stage takes, with ordinary memory behind it.
#pragma once
#include <cstdlib>
#include <memory>

#include "core/device/memory_pool.h"

namespace gpubench {

class HeapSource final : public MemorySource {
 public:
  std::byte* allocate(std::size_t bytes) override {
    return static_cast<std::byte*>(std::aligned_alloc(MemoryPool::alignment, bytes));
  }
  void release(std::byte* memory, std::size_t) override { std::free(memory); }
};

inline std::unique_ptr<MemoryPool> heap_pool() {
  return std::make_unique<MemoryPool>("cpu:0", std::make_unique<HeapSource>(), PoolOptions{});
}

}  // namespace gpubench
