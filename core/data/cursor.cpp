#include "core/data/cursor.h"

#include <cassert>
#include <cstring>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {

bool Cursor::next_into(std::span<const TensorView> slots) {
  if (!next(passing_)) return false;
  assert(passing_.size() == slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (passing_[i].type() != *slots[i].type) {
      throw Error(
          fmt::format("batch: an element has {} where the ones before have {}; elements that are stacked need equal "
                      "shapes",
                      to_string(passing_[i].type()), to_string(*slots[i].type)));
    }
    std::memcpy(slots[i].data, passing_[i].data(), passing_[i].bytes());
  }
  release(passing_);
  return true;
}

std::size_t Cursor::next_rows(std::span<std::int64_t> /*rows*/) {
  assert(!"next_rows() of a cursor without tables");
  return 0;
}

}  // namespace gpubench
