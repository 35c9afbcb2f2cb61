// Named ranges that NVIDIA's profilers show beside kernels; a few nanoseconds without a profiler. Compiled from
// nvtx.cpp if the toolkit's headers were present at build time, else from no_nvtx.cpp, which does nothing.
#pragma once

namespace gpubench {

/// A range on this thread from construction to destruction; ranges nest.
class NvtxRange {
 public:
  explicit NvtxRange(const char* name);
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace gpubench
