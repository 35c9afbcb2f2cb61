#include "tests/support/cuda_on_cpu/gpu_memory.h"

#include <cstdint>
#include <iterator>
#include <sys/mman.h>

#include "tests/support/cuda_on_cpu/gpu.h"

namespace gpubench::cuda_on_cpu {
namespace {

constexpr std::size_t kept_bytes = std::size_t{1} << 20, large_page = std::size_t{2} << 20;

void allow_all(bool access) {
  for (const auto& [gpu, memory] : gpu_memories()) memory.allow(access);
}

}  // namespace

void* GpuMemory::allocate(std::size_t bytes) {
  reserve();
  bytes = (bytes + granularity - 1) / granularity * granularity;
  for (auto free = free_.begin(); free != free_.end(); ++free) {
    if (free->second < bytes) continue;
    const auto [offset, size] = *free;
    free_.erase(free);
    if (size > bytes) free_[offset + bytes] = size - bytes;
    taken_[offset] = bytes;
    return base_ + offset;
  }
  return nullptr;
}

bool GpuMemory::release(void* memory) {
  const auto found = taken_.find(static_cast<std::size_t>(static_cast<std::byte*>(memory) - base_));
  if (!owns(memory) || found == taken_.end()) return false;
  // Pages that stay make every change of access slow, which comes twice with each kernel.
  if (found->second >= kept_bytes) ::madvise(memory, found->second, MADV_DONTNEED);
  free_[found->first] = found->second;
  taken_.erase(found);
  join_neighbours();
  return true;
}

void GpuMemory::join_neighbours() {
  for (auto free = free_.begin(); free != free_.end();) {
    const auto next = std::next(free);
    if (next == free_.end()) return;
    if (free->first + free->second == next->first) {
      free->second += next->second;
      free_.erase(next);
    } else {
      free = next;
    }
  }
}

bool GpuMemory::owns(const void* memory) const {
  const auto* const at = static_cast<const std::byte*>(memory);
  return base_ != nullptr && at >= base_ && at < base_ + bytes_;
}

void GpuMemory::allow(bool access) const {
  if (base_ != nullptr && !machine().open) ::mprotect(base_, bytes_, access ? PROT_READ | PROT_WRITE : PROT_NONE);
}

std::size_t GpuMemory::free_bytes() const {
  std::size_t bytes = base_ == nullptr ? machine().memory_bytes : 0;
  for (const auto& [offset, size] : free_) bytes += size;
  return bytes;
}

void GpuMemory::reserve() {
  if (base_ != nullptr) return;
  bytes_ = machine().memory_bytes;
  const int access = machine().open ? PROT_READ | PROT_WRITE : PROT_NONE;
  // Large pages, so that a change of access has few to change.
  void* const memory = ::mmap(nullptr, bytes_ + large_page, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  base_ = static_cast<std::byte*>(memory) + (large_page - address % large_page) % large_page;
  ::madvise(base_, bytes_, MADV_HUGEPAGE);
  free_[0] = bytes_;
}

std::map<int, GpuMemory>& gpu_memories() {
  // Never destroyed: devices that are static variables of tests end after it would.
  static auto& all = *new std::map<int, GpuMemory>;
  return all;
}

GpuMemoryAccess::GpuMemoryAccess() {
  if (depth++ == 0) allow_all(true);
}

GpuMemoryAccess::~GpuMemoryAccess() {
  if (--depth == 0) allow_all(false);
}

}  // namespace gpubench::cuda_on_cpu
