// The installed cuDNN on machines without a GPU: it chooses, builds and sizes engines for a GPU that is described to it
// (CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR), so only running them needs one.
#pragma once
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "core/backend/cuda/cudnn.h"

namespace gpubench::cuda {

struct DescribedGpu {
  const char* name;
  int compute_capability;  ///< 900 for 9.0
  int multiprocessors;
  int shared_memory_bytes;  ///< that a block may ask for
  int threads, blocks;      ///< of a multiprocessor
  int gigabytes;
  int cache_megabytes;  ///< L2
  int clock_mhz, memory_clock_mhz;

  std::size_t memory_bytes() const { return static_cast<std::size_t>(gigabytes) << 30; }
  /// float32, float16 and, from compute capability 8.0, bfloat16.
  std::vector<Dtype> types() const;
};

/// Names the GPU in messages of tests.
inline void PrintTo(const DescribedGpu& gpu, std::ostream* out) {
  *out << gpu.name;
}

/// One of each compute capability that computes in float16 and is sold for training or inference, the oldest first.
std::span<const DescribedGpu> described_gpus();

/// Engines that cuDNN compiles when it plans them are possible too. Not in a process that plans without them later.
struct WithDriver {};

/// While it exists, cudnn() is the installed library and plans for this GPU; otherwise cudnn() is the one that runs on
/// the CPU (tests/support/cuda_on_cpu). What cuDNN has made must be destroyed before the scope ends.
class PlanningFor {
 public:
  /// Throws Error if cuDNN is not installed, DeviceError if it refuses the description.
  explicit PlanningFor(const DescribedGpu& gpu);
  PlanningFor(const DescribedGpu& gpu, WithDriver driver);
  ~PlanningFor();
  PlanningFor(const PlanningFor&) = delete;
  PlanningFor& operator=(const PlanningFor&) = delete;
};

/// Why there is no installed cuDNN; empty if there is one.
std::string absence_of_cudnn();

}  // namespace gpubench::cuda
