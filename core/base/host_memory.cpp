#include "core/base/host_memory.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

#include "core/base/align.h"
#include "core/base/group_room.h"

namespace gpubench {
namespace {

constexpr std::size_t large_page = std::size_t{2} << 20;  // of x86-64 and AArch64

/// Never destroyed: memory may be freed after main().
GroupRoom& group_room() {
  static GroupRoom& room = *new GroupRoom;
  return room;
}

}  // namespace

std::byte* allocate_host_memory(std::size_t bytes, std::size_t alignment) {
  if (!may_take_host_memory(bytes)) return nullptr;
  const bool large = bytes >= large_page;
  if (large) alignment = std::max(alignment, large_page);
  void* const memory = std::aligned_alloc(alignment, align_up(std::max(bytes, std::size_t{1}), alignment));
  if (memory == nullptr) return nullptr;
  if (large) ::madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: small pages serve as well
  if (bytes >= GroupRoom::large_block) group_room().add(static_cast<std::byte*>(memory), bytes);
  return static_cast<std::byte*>(memory);
}

void free_host_memory(std::byte* memory, std::size_t bytes) noexcept {
  if (memory != nullptr && bytes >= GroupRoom::large_block) group_room().remove(memory);
  std::free(memory);
}

bool may_take_host_memory(std::size_t bytes) {
  return group_room().give(bytes);
}

std::string host_memory_limit() {
  const std::string text = group_room().text();
  return text.empty() ? text : "; " + text;
}

}  // namespace gpubench
