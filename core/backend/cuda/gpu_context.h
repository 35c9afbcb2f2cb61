// The context of this process on a GPU, and the GPU that a thread has selected. Making the context is the first thing
// that fails on a GPU that others hold, that is set to another mode, or that is broken. CUDA also makes it at nearly
// every call: on the GPU that the thread has selected, which is GPU 0 for a thread that has selected none.
#pragma once
#include <cuda_runtime_api.h>

namespace gpubench::cuda {

struct GpuProperties;

/// Makes the context, and the GPU the calling thread's current one. `physical` is CUDA's number of the GPU. Throws
/// UnusableDevice.
void make_context(int physical, const GpuProperties& properties);

/// Makes a GPU with a context the calling thread's current one.
cudaError_t select_gpu(int physical);

/// The same if the thread has selected none. For calls that any current GPU serves, such as the query of an event: a
/// thread that only waits or frees makes no context on GPU 0 then, and a thread that launches keeps its GPU. Ignores
/// errors, which the call returns too.
void select_gpu_if_none(int physical) noexcept;

/// The calling thread's current GPU. Throws DeviceError.
int current_gpu();

}  // namespace gpubench::cuda
