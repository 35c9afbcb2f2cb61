// Denormal numbers: training makes them all the time (the averages of a gradient that has become zero fade by a factor
// at every step), and each costs the processor more than a hundred cycles. Denormal inputs keep their values:
// conversions from half precision need them.
#pragma once
#include <cstdint>

namespace gpubench {

/// From now on this thread's results below the normal range are 0, and so are those of threads that it starts.
void flush_denormals() noexcept;

/// While it lives, this thread's results below the normal range are 0: a sum must not depend on the thread that
/// computes it.
class FlushedDenormals {
 public:
  FlushedDenormals() noexcept;
  ~FlushedDenormals();
  FlushedDenormals(const FlushedDenormals&) = delete;
  FlushedDenormals& operator=(const FlushedDenormals&) = delete;

 private:
  std::uint64_t before_;  // the processor's control register
};

}  // namespace gpubench
