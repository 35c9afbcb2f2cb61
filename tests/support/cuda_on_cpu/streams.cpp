// CUDA's streams and events, on the CPU.
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
#include "tests/support/cuda_on_cpu/stream_state.h"

namespace gpubench::cuda_on_cpu {
namespace {

// Never destroyed: devices that are static variables of tests end after these would.
std::recursive_mutex& mutex = *new std::recursive_mutex;
std::condition_variable_any& changed = *new std::condition_variable_any;
std::vector<CUstream_st*>& streams = *new std::vector<CUstream_st*>;
// Kept, so that none that is made later has the address that an event knows one of these by.
std::vector<std::unique_ptr<CUstream_st>>& ended = *new std::vector<std::unique_ptr<CUstream_st>>;
thread_local cudaError_t last_error = cudaSuccess;
thread_local int captures = 0;
cudaError_t lost = cudaSuccess;
int kernels_left = -1;
int captured_calls_left = -1;
cudaError_t fault = cudaSuccess;
int gpu_at_work = -1;
std::atomic<std::size_t> launch_count{0}, kernel_count{0};

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

/// With a seed, streams run a random part of what is queued each time that something is queued. Without one they run as
/// late as they may.
void run_by_chance() {
  std::minstd_rand* const random = chance();
  if (random == nullptr || streams.empty()) return;
  CUstream_st& chosen = *streams[(*random)() % streams.size()];
  run_until(chosen, chosen.done + (*random)() % 4);
}

void add(cudaStream_t stream, StepMaker make) {
  if (stream->capture != nullptr)
    add_node(*stream, std::move(make));
  else
    add_waiting(*stream, make);
}

void count_kernel() {
  ++kernel_count;
  if (kernels_left > 0) --kernels_left;
  if (kernels_left == 0) lost = fault;
}

}  // namespace

void add_waiting(CUstream_st& stream, const StepMaker& make) {
  stream.waiting.push_back(make(&stream, steps_queued(stream) + 1));
  if (stream.hurries) run_all(stream);
  run_by_chance();
  changed.notify_all();
}

int& captures_of_thread() {
  return captures;
}
void count_launch() {
  ++launch_count;
}
cudaError_t lost_with() {
  return lost;
}
std::minstd_rand* chance() {
  static const char* const seed = std::getenv("CUDA_ON_CPU_SEED");
  static std::minstd_rand& random = *new std::minstd_rand(seed == nullptr ? 1 : std::strtoul(seed, nullptr, 10) + 1);
  return seed == nullptr ? nullptr : &random;
}

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
  if (const cudaError_t refused = make_context(gpu_of_thread()); refused != cudaSuccess) return refused;
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
  if (const cudaError_t refused = make_context(gpu_of_thread()); refused != cudaSuccess) return refused;
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
}

}  // namespace gpubench::cuda_on_cpu
