#include "core/exec/arena.h"

namespace gpubench {

Arena::Claim::Claim(std::shared_ptr<Arena> arena, std::size_t bytes, std::string_view label) : bytes_(bytes) {
  if (bytes > arena->buffer_.bytes()) {
    arena->buffer_ = {};  // before the larger one is taken: both at once may not fit
    // The smaller arena's block would stay reserved, too small for any arena to come.
    MemoryPool& memory = arena->memory_;
    if (memory.options().growth) memory.trim();
    ++arena->generation_;
    try {
      arena->buffer_ = arena->memory_.allocate(bytes, label);
    } catch (...) {
      if (!arena->claims_.empty()) {
        arena->buffer_ = arena->memory_.allocate(*arena->claims_.rbegin(), label);
      }
      throw;
    }
  }
  arena->claims_.insert(bytes);
  arena_ = std::move(arena);
}

Arena::Claim::~Claim() {
  if (arena_ == nullptr) return;
  arena_->claims_.erase(arena_->claims_.find(bytes_));
  if (!arena_->claims_.empty()) return;
  arena_->buffer_ = {};
  ++arena_->generation_;
}

}  // namespace gpubench
