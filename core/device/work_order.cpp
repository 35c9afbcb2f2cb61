#include "core/device/work_order.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

namespace gpubench {
namespace {

/// The latest accesses to bytes that all pieces touch together or not at all.
struct Stretch {
  std::optional<std::size_t> writer;
  std::vector<std::size_t> readers;  // since the writer
};

/// The memory of all pieces, cut wherever one of their ranges begins or ends.
class Stretches {
 public:
  explicit Stretches(std::span<const RecordedWork> work) {
    for (const RecordedWork& piece : work) {
      add(piece.memory.reads);
      add(piece.memory.writes);
    }
    std::ranges::sort(cuts_);
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
    stretches_.resize(cuts_.size());
  }

  std::span<Stretch> of(const MemoryRange& range) {
    if (range.bytes == 0) return {};
    const std::size_t first = index(begin_of(range)), last = index(begin_of(range) + range.bytes);
    return std::span(stretches_).subspan(first, last - first);
  }

 private:
  static std::uintptr_t begin_of(const MemoryRange& range) { return reinterpret_cast<std::uintptr_t>(range.begin); }
  void add(const std::vector<MemoryRange>& ranges) {
    for (const MemoryRange& range : ranges) {
      if (range.bytes == 0) continue;
      cuts_.push_back(begin_of(range));
      cuts_.push_back(begin_of(range) + range.bytes);
    }
  }
  std::size_t index(std::uintptr_t cut) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(cuts_, cut) - cuts_.begin());
  }

  std::vector<std::uintptr_t> cuts_;
  std::vector<Stretch> stretches_;  // by the cut at which it begins
};

/// Takes out of `direct` what others of it wait for anyway, and returns all that the piece waits for. `before`: the
/// same of earlier pieces.
std::vector<bool> reduce(std::vector<std::size_t>& direct, const std::vector<std::vector<bool>>& before) {
  std::ranges::sort(direct, std::greater());
  direct.erase(std::unique(direct.begin(), direct.end()), direct.end());
  std::vector<bool> all(before.size());
  std::erase_if(direct, [&](std::size_t piece) {  // the latest first: only later ones can wait for a piece
    if (all[piece]) return true;
    all[piece] = true;
    for (std::size_t other = 0; other < piece; ++other) {
      if (before[piece][other]) all[other] = true;
    }
    return false;
  });
  std::ranges::reverse(direct);
  return all;
}

}  // namespace

std::vector<std::vector<std::size_t>> predecessors(std::span<const RecordedWork> work) {
  Stretches memory(work);
  std::vector<std::vector<std::size_t>> result(work.size());
  std::vector<std::vector<bool>> before;  // by piece: whether it waits for an earlier one, also through others
  before.reserve(work.size());
  for (std::size_t piece = 0; piece < work.size(); ++piece) {
    std::vector<std::size_t>& direct = result[piece];
    for (const MemoryRange& range : work[piece].memory.reads) {
      for (Stretch& stretch : memory.of(range)) {
        if (stretch.writer) direct.push_back(*stretch.writer);
        stretch.readers.push_back(piece);
      }
    }
    for (const MemoryRange& range : work[piece].memory.writes) {
      for (Stretch& stretch : memory.of(range)) {
        if (stretch.writer) direct.push_back(*stretch.writer);
        direct.insert(direct.end(), stretch.readers.begin(), stretch.readers.end());
        stretch = {.writer = piece, .readers = {}};
      }
    }
    std::erase(direct, piece);
    before.push_back(reduce(direct, before));
  }
  return result;
}

}  // namespace gpubench
