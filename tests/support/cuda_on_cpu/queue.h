// The streams of the CUDA that runs on the CPU. They are as late as a GPU may be: what is queued runs when the host
// waits for it, or when another stream that runs depends on it (or at once: gpu.h, hurry). Host code that forgets to
// wait, or that changes memory too early, computes wrong results here every time.
#pragma once
#include <cuda_runtime_api.h>
#include <functional>

namespace gpubench::cuda_on_cpu {

/// Adds work to a stream, or to the graph that the stream is captured into. Libraries' calls queue this way too. Events
/// around it lie `milliseconds` further apart.
cudaError_t queue(cudaStream_t stream, std::function<void()> work, double milliseconds = 0);

}  // namespace gpubench::cuda_on_cpu
