#include "core/data/cache/memory_budget.h"

#include <array>
#include <fmt/format.h>

#include "core/base/units.h"

namespace gpubench {
namespace {

/// Bytes between two checks of the machine's memory, and the amount that must then be free.
constexpr std::int64_t step_bytes = std::int64_t{64} << 20;

struct Wording {
  const char* what;
  const char* advice;
};
constexpr std::array wordings{Wording{"the limit of {}", "raise the limit, or cache in a file (cache(path))"},
                              Wording{"half of the free memory, {}", "give a limit, or cache in a file (cache(path))"},
                              Wording{"the free memory, {}", "cache in a file (cache(path))"}};

}  // namespace

MemoryBudget::MemoryBudget(std::int64_t limit, std::function<std::int64_t()> free)
    : free_(std::move(free)), bound_(limit == 0 ? Bound::half : Bound::limit), bytes_(limit) {
  const std::int64_t available = free_();
  if (limit == 0) bytes_ = available / 2;
  if (bytes_ <= available) return;
  bound_ = Bound::machine;
  bytes_ = available;
}

bool MemoryBudget::take(std::int64_t bytes) {
  if (bytes > bytes_ - taken_) return false;
  taken_ += bytes;
  if (taken_ - looked_at_ < step_bytes) return true;
  looked_at_ = taken_;
  if (free_() >= step_bytes) return true;
  bound_ = Bound::machine;
  bytes_ = taken_;
  return false;
}

std::string MemoryBudget::what() const {
  return fmt::format(fmt::runtime(wordings[static_cast<std::size_t>(bound_)].what),
                     format_bytes(static_cast<double>(bytes_)));
}

std::string MemoryBudget::advice() const {
  return wordings[static_cast<std::size_t>(bound_)].advice;
}

std::exception_ptr MemoryBudget::error(const std::string& text) const {
  return bound_ == Bound::limit ? std::make_exception_ptr(Error(text)) : std::make_exception_ptr(OutOfMemory(text));
}

}  // namespace gpubench
