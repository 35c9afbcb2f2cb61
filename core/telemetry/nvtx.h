// Named ranges that NVIDIA's profilers show beside kernels. They cost a few nanoseconds where no profiler listens.
// nvtx.cpp where the toolkit's headers were there when gpubench was built, else no_nvtx.cpp, which does nothing.
#pragma once

namespace gpubench {

/// From construction to destruction, on this thread; ranges nest.
class NvtxRange {
 public:
  explicit NvtxRange(const char* name);
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace gpubench
