#include "core/base/group_room.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "core/base/align.h"
#include "core/base/group_limits.h"
#include "core/base/units.h"

namespace gpubench {
namespace {

/// Half of it can be added to without an overflow.
constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max() / 4;

/// For generated code, stacks, Lua and the tables of pages.
double reserve_of(double limit) {
  constexpr double most = 64 << 20;
  return std::min(limit / 16, most);
}

/// Pages of a block that are not in memory.
std::size_t missing_bytes(const std::byte* block, std::size_t bytes, std::size_t page) {
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const std::uintptr_t first = begin / page * page, end = align_up(begin + bytes, page);
  std::vector<unsigned char> resident((end - first) / page);
  if (::mincore(reinterpret_cast<void*>(first), end - first, resident.data()) != 0) return bytes;
  return page *
         static_cast<std::size_t>(std::ranges::count_if(resident, [](unsigned char in) { return (in & 1) == 0; }));
}

}  // namespace

bool GroupRoom::give(std::size_t bytes) {
  constexpr Clock::duration recent = std::chrono::seconds(1);
  const std::size_t given = given_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  const bool fits = given <= unread_.load(std::memory_order_relaxed);
  const auto age = [&] { return Clock::now().time_since_epoch().count() - read_at_.load(std::memory_order_relaxed); };
  if (fits && (bytes < large_block || age() < recent.count())) return true;
  const std::lock_guard lock(mutex_);
  read();
  if (bytes > room_) {
    ::malloc_trim(0);  // what was freed goes back to the group
    read();
  }
  if (bytes > room_) return false;
  given_ = bytes;
  return true;
}

void GroupRoom::add(const std::byte* block, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  untouched_[block] = bytes;
}

void GroupRoom::remove(const std::byte* block) {
  const std::lock_guard lock(mutex_);
  untouched_.erase(block);
}

std::string GroupRoom::text() const {
  const GroupLimits limits = group_limits(root_);
  if (!limits.memory_bytes) return {};
  return fmt::format("the control group leaves {} of {} (memory.max)",
                     format_bytes(std::max(*limits.memory_bytes - limits.memory_used_bytes, 0.0)),
                     format_bytes(*limits.memory_bytes));
}

void GroupRoom::read() {
  const GroupLimits limits = group_limits(root_);
  room_ = no_limit;
  if (limits.memory_bytes) {
    const double left = *limits.memory_bytes - limits.memory_used_bytes - reserve_of(*limits.memory_bytes) -
                        static_cast<double>(untouched_bytes());
    room_ = static_cast<std::size_t>(std::max(left, 0.0));
  }
  given_ = 0;
  unread_ = room_ / 2;
  read_at_ = Clock::now().time_since_epoch().count();
}

/// Forgets blocks without such pages, so that each is looked at a few times.
std::size_t GroupRoom::untouched_bytes() {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::size_t sum = 0;
  for (auto block = untouched_.begin(); block != untouched_.end();) {
    const std::size_t missing = missing_bytes(block->first, block->second, page);
    sum += missing;
    block = missing == 0 ? untouched_.erase(block) : std::next(block);
  }
  return sum;
}

}  // namespace gpubench
