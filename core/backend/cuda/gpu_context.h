// The context of this process on a GPU. Making it is the first thing that fails on a GPU that others hold, that is set
// to another mode, or that is broken.
#pragma once
#include <utility>

#include "core/base/error.h"
#include "core/device/gpu_fault.h"

namespace gpubench::cuda {

/// The GPU is there, and this process cannot use it.
class UnusableGpu : public Error {
 public:
  explicit UnusableGpu(GpuFault fault) : Error(to_string(fault)), fault_(std::move(fault)) {}
  const GpuFault& fault() const { return fault_; }

 private:
  GpuFault fault_;
};

struct GpuProperties;

/// Makes the context, and the GPU the calling thread's current one. `physical` is CUDA's number of the GPU. Throws
/// UnusableGpu.
void make_context(int physical, const GpuProperties& properties);

}  // namespace gpubench::cuda
