#include "core/data/tune/stage_progress.h"

#include <algorithm>

namespace gpubench {

StageProgress& StageProgress::operator+=(const StageProgress& other) {
  computed += other.computed;
  taken += other.taken;
  source += other.source;
  busy += other.busy;
  starved += other.starved;
  blocked += other.blocked;
  threads += other.threads;
  unit_bytes = std::max(unit_bytes, other.unit_bytes);
  fixed_bytes = std::max(fixed_bytes, other.fixed_bytes);
  return *this;
}

StageProgress StageProgress::operator-(const StageProgress& earlier) const {
  constexpr Seconds nothing{0.0};
  return {.computed = computed - earlier.computed,
          .taken = taken - earlier.taken,
          .source = source - earlier.source,
          .busy = busy - earlier.busy,
          .starved = starved - earlier.starved,
          .blocked = blocked - earlier.blocked,
          .threads = {std::max(threads.cpu - earlier.threads.cpu, nothing),
                      std::max(threads.ready - earlier.threads.ready, nothing)},
          .unit_bytes = unit_bytes,
          .fixed_bytes = fixed_bytes};
}

}  // namespace gpubench
