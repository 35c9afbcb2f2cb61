// The memory that the control group of this process still has. The system kills a process that takes more, so what
// would be too much is refused before. Thread-safe.
#pragma once
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "core/base/clock.h"

namespace gpubench {

class GroupRoom {
 public:
  /// Blocks from here on are known one by one, because their pages may be touched late.
  static constexpr std::size_t large_block = std::size_t{1} << 20;

  /// `root`: the root directory; tests pass their own.
  explicit GroupRoom(std::filesystem::path root = "/") : root_(std::move(root)) {}

  /// Whether the group has `bytes` more. They count as given if so. Some of the limit stays free for what others take:
  /// libraries, stacks, Lua. Reads the group's files at most once a second, or when half of what was left is given.
  bool give(std::size_t bytes);
  /// A block that was given, of which no page was touched yet.
  void add(const std::byte* block, std::size_t bytes);
  void remove(const std::byte* block);
  /// "the control group leaves 12 MiB of 300 MiB (memory.max)"; empty without a limit.
  std::string text() const;

 private:
  void read();
  std::size_t untouched_bytes();

  const std::filesystem::path root_;
  std::atomic<std::size_t> given_{0}, unread_{0};  // since the files were read; what may be given until they are again
  std::atomic<Clock::rep> read_at_{0};
  std::mutex mutex_;
  std::size_t room_ = 0;                               // when they were read
  std::map<const std::byte*, std::size_t> untouched_;  // large blocks that have been seen with such pages
};

}  // namespace gpubench
