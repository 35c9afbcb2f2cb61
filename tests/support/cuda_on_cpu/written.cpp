#include "tests/support/cuda_on_cpu/written.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <sys/mman.h>

#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/gpu_memory.h"

namespace gpubench::cuda_on_cpu {
namespace {

/// A byte for each byte of a GPU's memory, not 0 where that was written; nullptr for memory of the host.
std::byte* shadow_of(const void* at) {
  const int gpu = gpu_that_has(at);
  if (gpu < 0) return nullptr;
  static auto& shadows = *new std::map<int, std::byte*>;
  std::byte*& shadow = shadows[gpu];
  if (shadow == nullptr) {  // memory that is only there where it is touched
    shadow = static_cast<std::byte*>(::mmap(nullptr, machine().memory_bytes, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  return shadow + gpu_memories().at(gpu).offset_of(at);
}

constexpr std::byte written{1};

}  // namespace

void note_allocated(const void* at, std::size_t bytes) {
  std::memset(shadow_of(at), 0, bytes);
}

void note_written(const void* at, std::size_t bytes) {
  if (std::byte* const shadow = shadow_of(at)) std::fill_n(shadow, bytes, written);
}

void note_copied(const void* to, const void* from, std::size_t bytes) {
  std::byte* const target = shadow_of(to);
  const std::byte* const source = shadow_of(from);
  if (target == nullptr || source == nullptr) return note_written(to, bytes);
  std::memmove(target, source, bytes);
}

const std::byte* first_unwritten(const void* at, std::size_t bytes) {
  const std::byte* const shadow = shadow_of(at);
  if (shadow == nullptr) return nullptr;
  const std::byte* const found = std::find(shadow, shadow + bytes, std::byte{});
  return found == shadow + bytes ? nullptr : static_cast<const std::byte*>(at) + (found - shadow);
}

}  // namespace gpubench::cuda_on_cpu
