// The memory that a cache may fill: a limit, and at most the machine's free memory, which is checked again while the
// cache fills.
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/data/tune/machine_limits.h"

namespace gpubench {

class MemoryBudget {
 public:
  /// `limit` in bytes; 0: half of the memory that is free now.
  explicit MemoryBudget(std::int64_t limit, std::function<std::int64_t()> free = &free_memory);

  std::int64_t bytes() const { return bytes_; }
  /// Takes `bytes` from the budget; false if it is exceeded. Checks the machine's memory every few megabytes.
  bool take(std::int64_t bytes);
  /// The exhausted resource, "the limit of 64 B", and what the user can do.
  std::string what() const;
  std::string advice() const;
  /// `text` as the error of a budget that is exceeded: OutOfMemory where the machine has no more, else Error.
  std::exception_ptr error(const std::string& text) const;

 private:
  enum class Bound { limit, half, machine };

  std::function<std::int64_t()> free_;
  Bound bound_;
  std::int64_t bytes_;
  std::int64_t taken_ = 0;
  std::int64_t looked_at_ = 0;
};

}  // namespace gpubench
