#include "core/codec/read_ahead.h"

#include <algorithm>
#include <cstring>

namespace gpubench {
namespace {

constexpr std::size_t piece = std::size_t{256} << 10;

}  // namespace

void ReadAhead::refill(std::size_t count) {
  const std::size_t held = last_ - first_;
  if (held > 0) std::memmove(memory_.data(), memory_.data() + first_, held);
  first_ = 0;
  last_ = held;
  const std::uint64_t possible = held + std::min<std::uint64_t>(source_->left_at_most(), SIZE_MAX - held);
  const std::size_t wanted = std::max(piece, static_cast<std::size_t>(std::min<std::uint64_t>(count, possible)));
  if (memory_.size() < wanted) memory_.resize(wanted);
  while (last_ < count && last_ < memory_.size()) {
    const std::size_t read = source_->read_some(std::span(memory_).subspan(last_));
    if (read == 0) return;
    last_ += read;
  }
}

}  // namespace gpubench
