// Counts operator new in this test program while asked to, by who calls it: oneDNN allocates inside its calls, and that
// is not ours.
#pragma once

namespace gpubench::testing {

void start_counting();
/// Allocations since start_counting(), without oneDNN's.
long stop_counting();

}  // namespace gpubench::testing
