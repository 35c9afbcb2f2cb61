#include "tests/core/backend/cuda/memory_apart.h"

#include <algorithm>
#include <cuda_runtime_api.h>
#include <utility>

namespace gpubench {
namespace {

/// One piece; the pool asks for it rounded up, and gets it as it is.
class OnePiece final : public MemorySource {
 public:
  explicit OnePiece(std::size_t bytes) : bytes_(bytes) {}
  std::byte* allocate(std::size_t) override {
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes_) != cudaSuccess) return nullptr;
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory, std::size_t) override { cudaFree(memory); }

 private:
  std::size_t bytes_;
};

/// A pool of one buffer, taken whole at first use.
struct Apart {
  explicit Apart(std::size_t bytes)
      : pool("apart", std::make_unique<OnePiece>(bytes), {.growth = false, .limit = rounded(bytes)}),
        buffer(pool.allocate(bytes, "test")) {}
  static std::size_t rounded(std::size_t bytes) {
    return (bytes + MemoryPool::alignment - 1) / MemoryPool::alignment * MemoryPool::alignment;
  }
  MemoryPool pool;
  Buffer buffer;
};

}  // namespace

std::shared_ptr<Buffer> allocate_apart(std::size_t bytes) {
  const auto apart = std::make_shared<Apart>(std::max<std::size_t>(bytes, 1));
  return {apart, &apart->buffer};
}

}  // namespace gpubench
