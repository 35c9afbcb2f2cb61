// What the streams, events and graphs of the CUDA that runs on the CPU consist of. The streams are locked wherever
// these are touched (queue.h).
#pragma once
#include <cstddef>
#include <cuda_runtime_api.h>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/cuda_on_cpu/queue.h"

namespace gpubench::cuda_on_cpu {

/// What several streams queue while they are captured, in the order in which the host queues it.
struct Capture {
  struct Branch {
    std::size_t queued = 0, joined = 0;  // pieces of work, and how many of them the origin waits for
  };
  CUstream_st* origin = nullptr;
  std::thread::id thread;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::unique_ptr<CUgraph_st> graph;
  std::map<CUstream_st*, Branch> branches;  // of streams that joined the capture by waiting for one of its events
  bool is_invalid = false;                  // by a forbidden call: all that comes is refused, and there is no graph
  bool has_ended = false;
};

}  // namespace gpubench::cuda_on_cpu

// CUDA's own names for what its handles point to.
struct CUevent_st {
  int gpu = 0;
  CUstream_st* stream = nullptr;                            // null: never recorded
  std::size_t ticket = 0;                                   // the stream's steps up to it come before the mark
  double milliseconds = 0;                                  // of the stream's work before the mark
  std::shared_ptr<gpubench::cuda_on_cpu::Capture> capture;  // the one that the stream was part of
  std::vector<cudaGraphNode_t> ends;                        // what the stream's next work came after, in its graph
  bool timed = true;
};

struct CUgraphNode_st {
  gpubench::cuda_on_cpu::StepMaker make;
  std::vector<cudaGraphNode_t> after;
  std::size_t depth = 1;  // nodes of the longest path that ends here
};

struct CUgraph_st {
  std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
};

struct CUstream_st {
  std::deque<gpubench::cuda_on_cpu::Step> waiting;
  std::size_t done = 0;  // steps that have run
  int gpu = 0;
  bool is_legacy = false;  // the stream 0 of a GPU
  bool blocks = false;     // ordered with the legacy stream: made without cudaStreamNonBlocking
  bool running = false;
  bool hurries = false;
  std::shared_ptr<gpubench::cuda_on_cpu::Capture> capture;
  std::vector<cudaGraphNode_t> ends;  // while it is captured: what its next work comes after
  double milliseconds = 0;
};

namespace gpubench::cuda_on_cpu {

/// The stream of a handle; 0 is the legacy stream of the calling thread's GPU.
CUstream_st& stream_of(cudaStream_t handle);
std::size_t steps_queued(const CUstream_st& stream);
/// Blocks the caller, whose lock is the only one it holds, until the stream has come that far.
void wait_until(std::unique_lock<std::recursive_mutex>& lock, CUstream_st* stream, std::size_t ticket);
/// What the next step of another stream does to come after these of `from`.
Step after_steps(CUstream_st* from, std::size_t ticket);

/// Adds work to what waits in a stream that is not captured.
void add_waiting(CUstream_st& stream, const StepMaker& make);
/// Adds nothing to the legacy stream, so that what is there comes after what streams that it blocks hold.
void add_mark(CUstream_st& stream);
/// Adds work to the graph that the stream is captured into.
void add_node(CUstream_st& stream, StepMaker make);
/// Adds what is not there yet.
void come_after(std::vector<cudaGraphNode_t>& ends, const std::vector<cudaGraphNode_t>& more);

/// Why nothing may be added to the stream now; cudaSuccess if it may.
cudaError_t refusal_of(CUstream_st& stream);
/// Why nothing may wait for the stream, or ask whether it is done.
cudaError_t refusal_to_wait(CUstream_st& stream);
/// The legacy stream waits for streams that block it, so it may not be used while one of them is captured; the capture
/// is invalid then.
cudaError_t unless_implicit(const CUstream_st& stream);
/// Makes the capture invalid and returns the error of the call that did.
cudaError_t invalidate(Capture& capture, cudaError_t error);

/// Counts a launch by the host.
void count_launch();
/// The error with which the GPU was lost, else cudaSuccess.
cudaError_t lost_with(int gpu);
/// With a seed, every legal order of streams and of a graph's nodes comes up under some seed; nullptr without one.
std::minstd_rand* chance();

}  // namespace gpubench::cuda_on_cpu
