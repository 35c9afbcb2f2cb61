// The GPUs that tests see through the CUDA that runs on the CPU, and what tests may do to them. Their memory cannot be
// touched by the host: outside kernels and copies it is protected, so that a host pointer which is none ends the test.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace gpubench::cuda_on_cpu {

struct Machine {
  int gpus = 1;
  std::size_t memory_bytes = std::size_t{512} << 20;  ///< of each
  int multiprocessors = 2;
  std::string name = "CUDA on the CPU";
  /// Streams made while it is set run what is queued at once, as a copy engine may that is ahead of the kernels.
  bool hurry = false;
  /// Whether GPUs can touch each other's memory.
  bool peers = true;
  /// Whether cuDNN has engines for a convolution with a bias behind it.
  bool cudnn_fuses = true;
  /// Whether cuBLASLt has algorithms with the epilogues of training: sums of an input, masks, derivatives.
  bool blaslt_fuses_training = true;
  /// How long each algorithm for a product takes by the events around it, in the order in which cuBLASLt proposes them.
  std::vector<double> matmul_milliseconds{0.001};
  /// How each of them adds the parts of its sums (cublasLtReductionScheme_t), and what it computes with
  /// (cublasLtNumericalImplFlags_t); those that are not here do not split sums, and have no flags.
  std::vector<std::uint32_t> matmul_reductions;
  std::vector<std::uint64_t> matmul_implementations;
  /// How much longer each takes when its epilogue also sums a factor.
  double matmul_sum_milliseconds = 0;
  /// Whether products are computed; if not, they only take their time.
  bool multiplies = true;
  /// How long cuDNN's engines take by the events around them, by their numbers.
  std::map<std::int64_t, double> engine_milliseconds;
  /// The workspace of cuDNN's engines, by their numbers; a few KiB of those that are not here.
  std::map<std::int64_t, std::int64_t> engine_workspace_bytes;
  /// What the knobs of cuDNN's engines are set to, by the engines' numbers and by cudnnBackendKnobType_t; none of those
  /// that are not here.
  std::map<std::int64_t, std::map<int, std::int64_t>> engine_knobs;
  /// GPUs that this process cannot use. The error of each call that makes their context, and their mode.
  std::set<int> taken;
  cudaError_t taken_error = cudaErrorDevicesUnavailable;
  cudaComputeMode compute_mode = cudaComputeModeDefault;
  /// GPUs that do not give their properties.
  std::set<int> nameless;
  /// The CUDA that the driver is for.
  int driver = CUDART_VERSION;
  /// Whether the host may touch the memory, as an MPI does that takes messages from there.
  bool open = false;
  /// Whether the last thread of a block runs first.
  bool last_thread_first = false;
  /// Returned by cudaGetDeviceCount instead of a count, when it is an error.
  cudaError_t broken = cudaSuccess;
};

/// The machine; change it only while no device is in use. A program's first one is as the environment says:
/// CUDA_ON_CPU_GPUS (a number, or "no_driver"), CUDA_ON_CPU_NAME of the GPUs, CUDA_ON_CPU_DRIVER (the CUDA that the
/// driver is for), CUDA_ON_CPU_TAKEN (GPUs that another process has in exclusive mode: "0,2"), CUDA_ON_CPU_OPEN (the
/// memory is open), CUDA_ON_CPU_LAST_THREAD_FIRST, CUDA_ON_CPU_CONTEXTS (a file that gets the number of each GPU at its
/// first context); fail_after() as CUDA_ON_CPU_FAULT_AFTER (and CUDA_ON_CPU_FAULT_GPU, its GPU) and fail_in_capture()
/// as CUDA_ON_CPU_FAULT_IN_CAPTURE say.
Machine& machine();

/// GPUs with a context since the start, or since the last call of forget_contexts(). A context is made by
/// cudaSetDevice for its GPU, and by calls for streams, events, memory and kernels for the GPU that the calling thread
/// has selected: GPU 0, if the thread has selected none.
std::set<int> contexts();
void forget_contexts();

/// The GPU that runs the last of so many more kernels is lost: what it has queued never runs, and calls for it fail
/// with `error`, until mend(). Kernels of all GPUs count, or those of one. Other GPUs go on.
void fail_after(int kernels, cudaError_t error, int gpu = -1);
/// The captured stream's GPU is lost at the call of a capture that comes after `calls` others. Of a capture that is
/// under way then, calls report only that it is invalid.
void fail_in_capture(int calls, cudaError_t error);
void mend();

/// Kernels, copies and graphs that the host has started since the start; a graph counts one.
std::size_t launches();
/// Copies that the host has started or captured since the start.
std::size_t copies();
/// Graphs instantiated since the start.
std::size_t graphs_made();
/// Kernels and copies on the longest path through the graph that was instantiated last.
std::size_t depth_of_latest_graph();
/// How often cuBLASLt was asked for algorithms since the start.
std::size_t heuristic_calls();
/// How often cuDNN was asked for engines since the start.
std::size_t engine_queries();
/// Kernels that have run, those of graphs too.
std::size_t kernels_run();

}  // namespace gpubench::cuda_on_cpu
