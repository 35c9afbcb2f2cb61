// Denormal numbers: training makes them all the time (the averages of a gradient that has become zero fade by a factor
// at every step), and each costs the processor more than a hundred cycles.
#pragma once

namespace gpubench::cpu {

/// From now on this thread's results below the normal range are 0, and so are those of its OpenMP team and of threads
/// that it starts. Denormal inputs keep their values: conversions from half precision need them.
void flush_denormals_in_team(int threads);

}  // namespace gpubench::cpu
