#include "tests/support/cuda_on_cpu/gpu_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <sys/mman.h>

#include "tests/support/cuda_on_cpu/access.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/written.h"

namespace gpubench::cuda_on_cpu {
namespace {

constexpr std::size_t kept_bytes = std::size_t{1} << 20, page = 4096, large_page = std::size_t{2} << 20;

std::map<const std::byte*, std::size_t>& page_locked() {
  static auto& all = *new std::map<const std::byte*, std::size_t>;
  return all;
}

/// Gives the pages back that lie wholly within the bytes: what shares its first or its last page keeps its values.
void discard_pages(std::byte* memory, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (address + page - 1) / page * page, end = (address + bytes) / page * page;
  if (end > first) ::madvise(memory + (first - address), end - first, MADV_DONTNEED);
}

void allow_all(bool access) {
  for (const auto& [gpu, memory] : gpu_memories()) memory.allow(access);
}

}  // namespace

std::map<std::size_t, std::size_t>::iterator GpuMemory::find_free(std::size_t bytes) {
  const auto is_large = [bytes](const auto& piece) { return piece.second >= bytes; };
  const auto found = std::find_if(free_.begin(), free_.end(), is_large);
  if (found != free_.end() || resting_.empty()) return found;
  free_.merge(resting_);
  join_neighbours();
  return std::find_if(free_.begin(), free_.end(), is_large);
}

void* GpuMemory::allocate(std::size_t asked) {
  reserve();
  std::size_t bytes = (asked + granularity - 1) / granularity * granularity;
  // A gap behind each piece, so that wrong addresses are those of no allocation.
  if (checks().memory) bytes += granularity;
  const auto found = find_free(bytes);
  if (found == free_.end()) return nullptr;
  const auto [offset, size] = *found;
  free_.erase(found);
  if (size > bytes) free_[offset + bytes] = size - bytes;
  taken_[offset] = {bytes, asked};
  freed_.erase(freed_.lower_bound(offset), freed_.lower_bound(offset + bytes));
  if (checks().initialized) note_allocated(base_ + offset, asked);
  return base_ + offset;
}

bool GpuMemory::release(void* memory) {
  const auto found = taken_.find(offset_of(memory));
  if (!owns(memory) || found == taken_.end()) return false;
  const auto [offset, piece] = *found;
  // Pages that stay make every change of access slow, which comes twice with each kernel.
  if (piece.bytes >= kept_bytes) discard_pages(static_cast<std::byte*>(memory), piece.bytes);
  (checks().memory ? resting_ : free_)[offset] = piece.bytes;
  freed_[offset] = piece.asked;
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

bool GpuMemory::holds(const void* memory, std::size_t bytes) const {
  const auto offset = offset_of(memory);
  auto piece = taken_.upper_bound(offset);
  if (piece == taken_.begin()) return false;
  --piece;
  return offset - piece->first + bytes <= piece->second.asked;
}

std::string GpuMemory::place_of(const void* memory) const {
  const auto at = offset_of(memory);
  std::string nearest = "nothing is allocated";
  std::size_t distance = bytes_ + 1;
  const auto consider = [&](std::size_t offset, std::size_t bytes, const char* of) {
    const std::size_t away = at < offset ? offset - at : at >= offset + bytes ? at - offset - bytes : 0;
    if (away >= distance) return;
    distance = away;
    const bool within = at >= offset && at < offset + bytes;
    const std::size_t shown = within ? at - offset : away;
    const char* const where = within ? "after the begin" : at < offset ? "before the begin" : "behind the end";
    nearest = std::to_string(shown) + " bytes " + where + " of " + of + " " + std::to_string(bytes) + " bytes";
  };
  for (const auto& [offset, piece] : taken_) consider(offset, piece.asked, "an allocation of");
  for (const auto& [offset, asked] : freed_) consider(offset, asked, "a freed allocation of");
  return nearest;
}

void GpuMemory::allow(bool access) const {
  if (base_ != nullptr && !machine().open) ::mprotect(base_, bytes_, access ? PROT_READ | PROT_WRITE : PROT_NONE);
}

std::size_t GpuMemory::free_bytes() const {
  std::size_t bytes = base_ == nullptr ? machine().memory_bytes : 0;
  for (const auto* const pieces : {&free_, &resting_}) {
    for (const auto& [offset, size] : *pieces) bytes += size;
  }
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

int gpu_that_has(const void* memory) {
  for (const auto& [gpu, pool] : gpu_memories()) {
    if (pool.owns(memory)) return gpu;
  }
  return -1;
}

std::string gpu_memory_fault(const void* memory, std::size_t bytes, int gpu) {
  const int owner = gpu_that_has(memory);
  if (owner < 0 || bytes == 0) return {};
  const GpuMemory& pool = gpu_memories().at(owner);
  if (!pool.holds(memory, bytes)) return pool.place_of(memory) + " on GPU " + std::to_string(owner);
  if (gpu < 0 || may_touch(gpu, owner)) return {};
  return "memory of GPU " + std::to_string(owner) + ", touched by GPU " + std::to_string(gpu) + " without peer access";
}

std::string unwritten_memory(const void* memory) {
  const int owner = gpu_that_has(memory);
  return gpu_memories().at(owner).place_of(memory) + " on GPU " + std::to_string(owner) + " that nothing has written";
}

void* lock_pages(std::size_t bytes) {
  void* const memory = std::aligned_alloc(page, (bytes + page - 1) / page * page);
  if (memory != nullptr) page_locked()[static_cast<std::byte*>(memory)] = bytes;
  return memory;
}

bool unlock_pages(void* memory) {
  if (page_locked().erase(static_cast<std::byte*>(memory)) == 0) return false;
  std::free(memory);
  return true;
}

bool is_page_locked(const void* memory, std::size_t bytes) {
  const auto* const at = static_cast<const std::byte*>(memory);
  auto piece = page_locked().upper_bound(at);
  if (piece == page_locked().begin()) return false;
  --piece;
  return static_cast<std::size_t>(at - piece->first) + bytes <= piece->second;
}

GpuMemoryAccess::GpuMemoryAccess() {
  if (depth++ == 0) allow_all(true);
}

GpuMemoryAccess::~GpuMemoryAccess() {
  if (--depth == 0) allow_all(false);
}

}  // namespace gpubench::cuda_on_cpu
