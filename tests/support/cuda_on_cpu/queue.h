// The streams of the CUDA that runs on the CPU. They are as late as a GPU may be: what is queued runs when the host
// waits for it, or when another stream that runs depends on it (or at once: gpu.h, hurry). Host code that forgets to
// wait, or that changes memory too early, computes wrong results here every time.
#pragma once
#include <cstddef>
#include <cuda_runtime_api.h>
#include <functional>
#include <mutex>

namespace gpubench::cuda_on_cpu {

/// One thing that a stream does. It stands still before what is not `ready` yet; others may go on.
struct Step {
  std::function<bool()> ready;  ///< none: at once
  std::function<void()> work;   ///< none: nothing
};
/// Makes the step when it comes into a stream: called once by each launch of a graph. The ticket is how many steps the
/// stream will have behind it after this one.
using StepMaker = std::function<Step(cudaStream_t stream, std::size_t ticket)>;

/// As queue(), for work that waits for other streams.
cudaError_t queue_steps(cudaStream_t stream, StepMaker make);
/// What holds the streams still; held while steps run.
std::unique_lock<std::recursive_mutex> lock_streams();
/// The same where nobody holds them; else no lock.
std::unique_lock<std::recursive_mutex> try_lock_streams();
/// Whoever waits for a stream looks again: a step may have become ready.
void notify_streams();
/// Runs a stream that may be gone as far as it can, to the ticket. The streams are locked.
void advance(cudaStream_t stream, std::size_t ticket);
void run_all_streams();
/// The GPU that the calling thread has selected.
int gpu_of_thread();
/// The GPU gets its context, unless it has one already or this process cannot use it.
cudaError_t make_context(int gpu);
/// As the runtime at calls for streams, events, memory and kernels: the GPU that the calling thread has selected gets
/// its context, also if the call names a stream, an event or memory of another GPU.
cudaError_t initialize();
/// The GPU whose stream's work runs now; -1: none.
int working_gpu();

/// What a call returns; cudaGetLastError() too when it is an error. All calls fail once the GPU is lost, and a call
/// that would make something asks first.
cudaError_t result(cudaError_t status, int gpu = gpu_of_thread());
/// cuBLASLt, cuDNN and NCCL have CUDA runtimes of their own: while one of these lives, errors of the calling thread are
/// the library's, and cudaGetLastError() of the program does not return them.
class LibraryRuntime {
 public:
  LibraryRuntime();
  ~LibraryRuntime();
  LibraryRuntime(const LibraryRuntime&) = delete;
  LibraryRuntime& operator=(const LibraryRuntime&) = delete;

 private:
  cudaError_t of_program_;
};

/// For calls that may wait for a GPU or change its memory map, whichever stream or event they name: they fail in a
/// thread that captures, and in every thread during a capture of cudaStreamCaptureModeGlobal, and make the capture
/// invalid. Captures of cudaStreamCaptureModeRelaxed allow them.
cudaError_t unless_capturing();
/// A kernel comes to a GPU when it is first launched there, which may wait for the GPU: the call fails in a thread that
/// captures (CUDA's lazy loading).
cudaError_t load_kernel(const void* kernel);

/// Adds work to a stream of the calling thread's GPU, or to the graph that the stream is captured into. Libraries'
/// calls queue this way too. Events around it lie `milliseconds` further apart.
cudaError_t queue(cudaStream_t stream, std::function<void()> work, double milliseconds = 0);
/// The same for a stream of any GPU.
cudaError_t queue_copy(cudaStream_t stream, std::function<void()> work);

}  // namespace gpubench::cuda_on_cpu
