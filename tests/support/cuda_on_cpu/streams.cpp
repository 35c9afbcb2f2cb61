// CUDA's streams, events and graphs, on the CPU.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/cuda_on_cpu/access.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/gpu_memory.h"
#include "tests/support/cuda_on_cpu/queue.h"

// CUDA's own names for what its handles point to.
struct CUevent_st {
  CUstream_st* stream = nullptr;  // null: never recorded
  std::size_t ticket = 0;         // the stream's steps up to it come before the mark
  double milliseconds = 0;        // of the stream's work before the mark
  CUgraph_st* capture = nullptr;  // the graph that the stream was captured into
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

struct CUgraphExec_st {
  std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
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
namespace {

// Never destroyed: devices that are static variables of tests end after these would.
std::recursive_mutex& mutex = *new std::recursive_mutex;
std::condition_variable_any& changed = *new std::condition_variable_any;
std::vector<CUstream_st*>& streams = *new std::vector<CUstream_st*>;
// Kept, so that none that is made later has the address that an event knows one of these by.
std::vector<std::unique_ptr<CUstream_st>>& ended = *new std::vector<std::unique_ptr<CUstream_st>>;
thread_local cudaError_t last_error = cudaSuccess;
thread_local int captures = 0;  // that this thread has begun and not ended
cudaError_t lost = cudaSuccess;
int kernels_left = -1;
int captured_calls_left = -1;
cudaError_t fault = cudaSuccess;
int gpu_at_work = -1;
std::atomic<std::size_t> launch_count{0}, kernel_count{0}, graph_count{0}, graph_depth{0};

void work_on(int gpu, const std::function<void()>& work) {
  const int before = std::exchange(gpu_at_work, gpu);
  const Watching watched(checks().any());
  work();
  gpu_at_work = before;
}

/// As far as the stream can go without what others have yet to queue.
void run_until(CUstream_st& stream, std::size_t ticket) {
  const GpuMemoryAccess access;
  while (stream.done < ticket && !stream.waiting.empty() && !stream.running) {
    stream.running = true;
    const Step& step = stream.waiting.front();
    const bool ready = lost != cudaSuccess || step.ready == nullptr || step.ready();
    if (ready) {
      if (lost == cudaSuccess && step.work != nullptr) work_on(stream.gpu, step.work);
      stream.waiting.pop_front();
      ++stream.done;
    }
    stream.running = false;
    if (!ready) return;
  }
}

void run_all(CUstream_st& stream) {
  run_until(stream, std::numeric_limits<std::size_t>::max());
}

bool is_there(CUstream_st* stream) {
  return std::find(streams.begin(), streams.end(), stream) != streams.end();
}

std::size_t steps_queued(const CUstream_st& stream) {
  return stream.done + stream.waiting.size();
}

/// Blocks the caller, whose lock is the only one it holds, until the stream has come that far.
void wait_until(std::unique_lock<std::recursive_mutex>& lock, CUstream_st* stream, std::size_t ticket) {
  while (is_there(stream)) {
    run_until(*stream, ticket);
    if (stream->done >= ticket || stream->waiting.empty()) return;
    changed.wait(lock);
  }
}

/// With a seed, every legal order of streams and of a graph's nodes comes up under some seed.
std::minstd_rand* chance() {
  static const char* const seed = std::getenv("CUDA_ON_CPU_SEED");
  static std::minstd_rand& random = *new std::minstd_rand(seed == nullptr ? 1 : std::strtoul(seed, nullptr, 10) + 1);
  return seed == nullptr ? nullptr : &random;
}

/// With a seed, streams run a random part of what is queued each time that something is queued. Without one they run as
/// late as they may.
void run_by_chance() {
  std::minstd_rand* const random = chance();
  if (random == nullptr || streams.empty()) return;
  CUstream_st& chosen = *streams[(*random)() % streams.size()];
  run_until(chosen, chosen.done + (*random)() % 4);
}

/// A legal order: a random one with a seed. Without one the node that was captured last comes first where it may, which
/// is as far from the host's order as it can be.
std::vector<const CUgraphNode_st*> order_of(const CUgraphExec_st& graph) {
  std::map<const CUgraphNode_st*, std::vector<const CUgraphNode_st*>> followers;
  std::map<const CUgraphNode_st*, std::size_t> missing;
  std::vector<const CUgraphNode_st*> ready, order;
  for (const auto& node : graph.nodes) {
    missing[node.get()] = node->after.size();
    for (const CUgraphNode_st* const earlier : node->after) followers[earlier].push_back(node.get());
    if (node->after.empty()) ready.push_back(node.get());
  }
  while (!ready.empty()) {
    std::minstd_rand* const random = chance();
    const std::size_t chosen = random == nullptr ? ready.size() - 1 : (*random)() % ready.size();
    const CUgraphNode_st* const node = ready[chosen];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(chosen));
    order.push_back(node);
    for (const CUgraphNode_st* const follower : followers[node]) {
      if (--missing[follower] == 0) ready.push_back(follower);
    }
  }
  return order;
}

void add_node(CUstream_st& stream, StepMaker make) {
  auto node = std::make_shared<CUgraphNode_st>(CUgraphNode_st{.make = std::move(make), .after = stream.ends});
  for (const CUgraphNode_st* const earlier : node->after) node->depth = std::max(node->depth, earlier->depth + 1);
  stream.ends = {node.get()};
  stream.capture->nodes.push_back(std::move(node));
  const auto branch = stream.capture->branches.find(&stream);
  if (branch != stream.capture->branches.end()) ++branch->second.queued;
}

void come_after(std::vector<cudaGraphNode_t>& ends, const std::vector<cudaGraphNode_t>& more) {
  for (cudaGraphNode_t const node : more) {
    if (std::ranges::find(ends, node) == ends.end()) ends.push_back(node);
  }
}

void add(cudaStream_t stream, StepMaker make) {
  if (stream->capture != nullptr) {
    add_node(*stream, std::move(make));
  } else {
    stream->waiting.push_back(make(stream, steps_queued(*stream) + 1));
    if (stream->hurries) run_all(*stream);
    run_by_chance();
    changed.notify_all();
  }
}

void count_kernel() {
  ++kernel_count;
  if (kernels_left > 0) --kernels_left;
  if (kernels_left == 0) lost = fault;
}

}  // namespace

void fail_after(int kernels, cudaError_t error) {
  const std::lock_guard lock(mutex);
  kernels_left = kernels;
  fault = error;
  if (kernels == 0) lost = error;
}

void fail_in_capture(int calls, cudaError_t error) {
  const std::lock_guard lock(mutex);
  captured_calls_left = calls;
  fault = error;
}

void mend() {
  const std::lock_guard lock(mutex);
  kernels_left = captured_calls_left = -1;
  lost = last_error = cudaSuccess;
  for (CUstream_st* stream : streams) {  // what was queued was lost with the device
    stream->done += stream->waiting.size();
    stream->waiting.clear();
  }
  changed.notify_all();
}

std::unique_lock<std::recursive_mutex> lock_streams() {
  return std::unique_lock(mutex);
}
std::unique_lock<std::recursive_mutex> try_lock_streams() {
  return {mutex, std::try_to_lock};
}
void notify_streams() {
  changed.notify_all();
}
void advance(cudaStream_t stream, std::size_t ticket) {
  if (is_there(stream)) run_until(*stream, ticket);
}
int working_gpu() {
  return gpu_at_work;
}
void run_all_streams() {
  for (CUstream_st* stream : streams) run_all(*stream);
}

cudaError_t result(cudaError_t status) {
  if (status == cudaSuccess && lost != cudaSuccess) status = lost;
  if (status != cudaSuccess) last_error = status;
  return status;
}
bool is_capturing() {
  return captures > 0;
}
cudaError_t unless_capturing() {
  return result(captures > 0 ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
}

std::size_t launches() {
  return launch_count;
}
std::size_t graphs_made() {
  return graph_count;
}
std::size_t depth_of_latest_graph() {
  return graph_depth;
}
std::size_t kernels_run() {
  return kernel_count;
}

cudaError_t queue(cudaStream_t stream, std::function<void()> work, double milliseconds) {
  const std::lock_guard lock(mutex);
  if (stream->capture == nullptr) stream->milliseconds += milliseconds;
  return queue_steps(stream, [work = std::move(work)](cudaStream_t, std::size_t) {
    return Step{.ready = nullptr, .work = [work] {
                  work();
                  count_kernel();
                }};
  });
}

cudaError_t queue_steps(cudaStream_t stream, StepMaker make) {
  const std::lock_guard lock(mutex);
  if (stream->capture != nullptr && captured_calls_left >= 0 && captured_calls_left-- == 0) lost = fault;
  if (lost != cudaSuccess) return result(stream->capture != nullptr ? cudaErrorStreamCaptureInvalidated : lost);
  if (stream->capture == nullptr) ++launch_count;
  add(stream, std::move(make));
  return cudaSuccess;
}

extern "C" {

cudaError_t cudaGetLastError() {
  return std::exchange(last_error, cudaSuccess);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  const std::lock_guard lock(mutex);
  if (lost != cudaSuccess) return result(lost);
  if (gpu_of_thread() == machine().taken) return result(cudaErrorDevicesUnavailable);
  *stream = new CUstream_st;
  (*stream)->gpu = gpu_of_thread();
  (*stream)->hurries = machine().hurry;
  streams.push_back(*stream);
  return result(cudaSuccess);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  run_all(*stream);
  std::erase(streams, stream);
  ended.emplace_back(stream);
  changed.notify_all();
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  auto lock = lock_streams();
  if (stream->capture != nullptr) return result(cudaErrorStreamCaptureUnsupported);
  wait_until(lock, stream, steps_queued(*stream));
  return result(cudaSuccess);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  if (captures > 0) return unless_capturing();
  return stream->waiting.empty() || lost != cudaSuccess ? result(cudaSuccess) : cudaErrorNotReady;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const std::lock_guard lock(mutex);
  if (event->stream == nullptr || event->stream == stream) return result(cudaSuccess);
  if (event->capture != nullptr) {
    if (stream->capture != nullptr && stream->capture != event->capture) return result(cudaErrorStreamCaptureMerge);
    const auto branch = event->capture->branches.find(event->stream);
    if (stream->capture == nullptr) {
      event->capture->branches.try_emplace(stream);
      stream->ends.clear();
    }
    stream->capture = event->capture;
    come_after(stream->ends, event->ends);
    const bool to_origin = !event->capture->branches.contains(stream);
    if (branch != event->capture->branches.end() && to_origin) {
      branch->second.joined = std::max(branch->second.joined, event->ticket);
    }
    return result(cudaSuccess);
  }
  if (stream->capture != nullptr) return result(cudaErrorStreamCaptureIsolation);
  const auto reached = [from = event->stream, ticket = event->ticket] {
    if (!is_there(from)) return true;
    run_until(*from, ticket);
    return from->done >= ticket;
  };
  add(stream, [reached](cudaStream_t, std::size_t) { return Step{.ready = reached, .work = nullptr}; });
  return result(cudaSuccess);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const std::lock_guard lock(mutex);
  if (lost != cudaSuccess) return result(lost);
  *event = new CUevent_st;
  (*event)->timed = (flags & cudaEventDisableTiming) == 0;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  event->stream = stream;
  event->milliseconds = stream->milliseconds;
  event->ticket = steps_queued(*stream);
  event->capture = stream->capture;
  event->ends = stream->ends;
  if (event->capture != nullptr && event->capture->branches.contains(stream)) {
    event->ticket = event->capture->branches[stream].queued;
  }
  return result(cudaSuccess);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::lock_guard lock(mutex);
  if (captures > 0) return unless_capturing();
  const bool done = event->stream == nullptr || event->stream->done >= event->ticket;
  return done ? result(cudaSuccess) : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  auto lock = lock_streams();
  if (captures > 0) return unless_capturing();
  if (event->stream != nullptr) wait_until(lock, event->stream, event->ticket);
  return result(cudaSuccess);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!start->timed || !end->timed) return result(cudaErrorInvalidResourceHandle);
  *milliseconds = 0.001F + static_cast<float>(end->milliseconds - start->milliseconds);
  return result(cudaSuccess);
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  const std::lock_guard lock(mutex);
  if (lost != cudaSuccess) return result(lost);
  if (stream->capture != nullptr) return result(cudaErrorIllegalState);
  stream->capture = new CUgraph_st;
  stream->ends.clear();
  ++captures;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = std::exchange(stream->capture, nullptr);
  --captures;
  bool joined = true;
  for (const auto& [other, branch] : (*graph)->branches) {
    other->capture = nullptr;
    joined = joined && branch.joined == branch.queued;
  }
  return result(joined ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const std::lock_guard lock(mutex);
  *status = stream->capture != nullptr ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges,
                                     std::size_t* count) {
  const std::lock_guard lock(mutex);
  *status = stream->capture != nullptr ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  if (stream->capture == nullptr) return result(cudaSuccess);
  if (id != nullptr) *id = 1;
  if (graph != nullptr) *graph = stream->capture;
  if (nodes != nullptr) *nodes = stream->ends.data();
  if (edges != nullptr) *edges = nullptr;  // all edges wait for the whole node
  if (count != nullptr) *count = stream->ends.size();
  return result(cudaSuccess);
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes, const cudaGraphEdgeData*,
                                                std::size_t count, unsigned flags) {
  const std::lock_guard lock(mutex);
  if (stream->capture == nullptr) return result(cudaErrorIllegalState);
  if (nodes == nullptr || count == 0) return result(cudaErrorInvalidValue);
  if (flags == cudaStreamSetCaptureDependencies) stream->ends.clear();
  come_after(stream->ends, {nodes, nodes + count});
  return result(cudaSuccess);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  const std::lock_guard lock(mutex);
  if (lost != cudaSuccess) return result(lost);
  ++graph_count;
  graph_depth = 0;
  for (const auto& node : graph->nodes) graph_depth = std::max(graph_depth.load(), node->depth);
  *executable = new CUgraphExec_st{graph->nodes};
  return result(cudaSuccess);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const std::lock_guard lock(mutex);
  run_all_streams();
  delete executable;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  if (lost != cudaSuccess) return result(lost);
  ++launch_count;
  for (const CUgraphNode_st* const node : order_of(*executable)) add(stream, node->make);
  return cudaSuccess;
}
}

}  // namespace gpubench::cuda_on_cpu
