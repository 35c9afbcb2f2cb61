// The memory of the GPUs that run on the CPU: ranges of addresses that only running work may touch.
#pragma once
#include <cstddef>
#include <map>

namespace gpubench::cuda_on_cpu {

/// One GPU's, as large as machine() says, taken when it is first used.
class GpuMemory {
 public:
  /// nullptr when nothing as large is free.
  void* allocate(std::size_t bytes);
  /// False for what allocate() never gave.
  bool release(void* memory);
  bool owns(const void* memory) const;
  void allow(bool access) const;
  std::size_t free_bytes() const;

 private:
  static constexpr std::size_t granularity = 512;
  void reserve();
  void join_neighbours();

  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::map<std::size_t, std::size_t> free_, taken_;
};

/// By the GPU's number.
std::map<int, GpuMemory>& gpu_memories();

/// While one lives, all memory may be touched.
class GpuMemoryAccess {
 public:
  GpuMemoryAccess();
  ~GpuMemoryAccess();
  GpuMemoryAccess(const GpuMemoryAccess&) = delete;
  GpuMemoryAccess& operator=(const GpuMemoryAccess&) = delete;

 private:
  static inline int depth = 0;
};

}  // namespace gpubench::cuda_on_cpu
