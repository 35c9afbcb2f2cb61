#include "core/data/cursor.h"

#include <cassert>
#include <cstring>

#include "core/data/types.h"

namespace gpubench {

bool Cursor::next_into(std::span<const TensorView> slots) {
  if (!next(passing_)) return false;
  assert(passing_.size() == slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (passing_[i].type() != *slots[i].type) {
      throw unequal_shapes(passing_[i].type(), *slots[i].type);
    }
    std::memcpy(slots[i].data, passing_[i].data(), passing_[i].bytes());
  }
  release(passing_);
  return true;
}

std::int64_t Cursor::skip(std::int64_t count) {
  std::int64_t skipped = 0;
  while (skipped < count && next(passing_)) ++skipped;
  release(passing_);
  return skipped;
}

std::size_t Cursor::next_rows(std::span<std::int64_t> /*rows*/) {
  assert(!"next_rows() of a cursor without tables");
  return 0;
}

}  // namespace gpubench
