// How sums below the normal range come out must not depend on the thread that computes them.
#pragma once
#include <cstdint>

namespace gpubench {

/// While it lives, this thread's results below the normal range are 0, as they are in the CPU's kernels.
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
