// Denormal numbers appear constantly in training (the moving average of a gradient that has become zero shrinks by a
// factor every step), and each costs the processor over a hundred cycles. Only results are flushed: denormal inputs
// keep their values, because conversions from half precision need them.
#pragma once
#include <cstdint>

namespace gpubench {

/// From now on, results below the normal range are 0 in this thread and in threads that it starts.
void flush_denormals() noexcept;

/// While it lives, results below the normal range are 0 in this thread, so that a sum does not depend on the thread
/// that computes it.
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
