// What the streams, events and graphs of the CUDA that runs on the CPU consist of. The streams are locked wherever
// these are touched (queue.h).
#pragma once
#include <cstddef>
#include <cuda_runtime_api.h>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "tests/support/cuda_on_cpu/queue.h"

// CUDA's own names for what its handles point to.
struct CUevent_st {
  CUstream_st* stream = nullptr;      // null: never recorded
  std::size_t ticket = 0;             // the stream's steps up to it come before the mark
  double milliseconds = 0;            // of the stream's work before the mark
  CUgraph_st* capture = nullptr;      // the graph that the stream was captured into
  std::vector<cudaGraphNode_t> ends;  // what the stream's next work came after, in that graph
  bool timed = true;
};

struct CUgraphNode_st {
  gpubench::cuda_on_cpu::StepMaker make;
  std::vector<cudaGraphNode_t> after;
  std::size_t depth = 1;  // nodes of the longest path that ends here
};

/// What several streams queued while they were captured, in the order in which the host queued it.
struct CUgraph_st {
  std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
  struct Branch {
    std::size_t queued = 0, joined = 0;  // pieces of work, and how many of them the origin waits for
  };
  std::map<CUstream_st*, Branch> branches;  // of streams that joined the capture by waiting for one of its events
};

struct CUstream_st {
  std::deque<gpubench::cuda_on_cpu::Step> waiting;
  std::size_t done = 0;  // steps that have run
  int gpu = 0;
  bool running = false;
  bool hurries = false;
  CUgraph_st* capture = nullptr;
  std::vector<cudaGraphNode_t> ends;  // while it is captured: what its next work comes after
  double milliseconds = 0;
};

namespace gpubench::cuda_on_cpu {

/// Adds work to what waits in a stream that is not captured.
void add_waiting(CUstream_st& stream, const StepMaker& make);
/// Adds work to the graph that the stream is captured into.
void add_node(CUstream_st& stream, StepMaker make);
/// Adds what is not there yet.
void come_after(std::vector<cudaGraphNode_t>& ends, const std::vector<cudaGraphNode_t>& more);
/// How many captures the calling thread has begun and not ended.
int& captures_of_thread();
/// Counts a launch by the host.
void count_launch();
/// The error with which the device was lost, else cudaSuccess.
cudaError_t lost_with();
/// With a seed, every legal order of streams and of a graph's nodes comes up under some seed; nullptr without one.
std::minstd_rand* chance();

}  // namespace gpubench::cuda_on_cpu
