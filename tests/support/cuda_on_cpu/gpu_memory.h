// The memory of the GPUs that run on the CPU: ranges of addresses that only running work may touch.
#pragma once
#include <cstddef>
#include <map>
#include <string>

namespace gpubench::cuda_on_cpu {

/// One GPU's, as large as machine() says, taken when it is first used.
class GpuMemory {
 public:
  /// nullptr when nothing as large is free.
  void* allocate(std::size_t bytes);
  /// False for what allocate() never gave.
  bool release(void* memory);
  bool owns(const void* memory) const;
  std::size_t offset_of(const void* memory) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(memory) - base_);
  }
  /// Whether the bytes lie within one allocation.
  bool holds(const void* memory, std::size_t bytes) const;
  /// Where the address lies from the nearest allocation, one that was freed too.
  std::string place_of(const void* memory) const;
  void allow(bool access) const;
  std::size_t free_bytes() const;

 private:
  static constexpr std::size_t granularity = 512;
  struct Piece {
    std::size_t bytes, asked;
  };
  void reserve();
  void join_neighbours();
  std::map<std::size_t, std::size_t>::iterator find_free(std::size_t bytes);

  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::map<std::size_t, std::size_t> free_;
  std::map<std::size_t, std::size_t> resting_;  // freed while memory is checked: taken again once nothing else is free
  std::map<std::size_t, Piece> taken_;
  std::map<std::size_t, std::size_t> freed_;  // what was asked for at places that were not taken again
};

/// By the GPU's number.
std::map<int, GpuMemory>& gpu_memories();
/// The number of the GPU whose memory has the address; -1: none.
int gpu_that_has(const void* memory);
/// Whether kernels of the GPU may touch the other's memory: cudaDeviceEnablePeerAccess().
bool may_touch(int gpu, int other);
/// Why work of the GPU may not touch these bytes of a GPU's memory; empty if it may. GPU -1: copies, which may touch
/// all.
std::string gpu_memory_fault(const void* memory, std::size_t bytes, int gpu);

/// What is wrong with a load of a byte of a GPU's memory that nothing has written.
std::string unwritten_memory(const void* memory);

/// Memory of the host that kernels may touch; nullptr when there is none.
void* lock_pages(std::size_t bytes);
/// False for what lock_pages() never gave.
bool unlock_pages(void* memory);
bool is_page_locked(const void* memory, std::size_t bytes);

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
