// The context of this process on a GPU. Making it is the first thing that fails on a GPU that others hold, that is set
// to another mode, or that is broken.
#pragma once

namespace gpubench::cuda {

struct GpuProperties;

/// Makes the context, and the GPU the calling thread's current one. `physical` is CUDA's number of the GPU. Throws
/// UnusableGpu.
void make_context(int physical, const GpuProperties& properties);

}  // namespace gpubench::cuda
