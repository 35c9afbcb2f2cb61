// Counts operator new in a test program, on all its threads, by who calls it: oneDNN allocates inside its calls, and
// that is not ours. Programs that use it have their global operators replaced.
#pragma once

namespace gpubench::support {

void start_counting();
/// Allocations since start_counting(), without oneDNN's.
long stop_counting();

template <class Run>
long count_allocations(Run&& run) {
  start_counting();
  run();
  return stop_counting();
}

}  // namespace gpubench::support
