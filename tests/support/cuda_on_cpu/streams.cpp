// CUDA's streams, on the CPU, and how GPUs are lost.
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
std::map<int, CUstream_st*>& legacy_streams = *new std::map<int, CUstream_st*>;
std::map<int, cudaError_t>& lost = *new std::map<int, cudaError_t>;
thread_local cudaError_t last_error = cudaSuccess;
int kernels_left = -1;
int captured_calls_left = -1;
int gpu_of_fault = -1;
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
    const bool ready = lost_with(stream.gpu) != cudaSuccess || step.ready == nullptr || step.ready();
    if (ready) {
      if (lost_with(stream.gpu) == cudaSuccess && step.work != nullptr) work_on(stream.gpu, step.work);
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

/// With a seed, streams run a random part of what is queued each time that something is queued. Without one they run as
/// late as they may.
void run_by_chance() {
  std::minstd_rand* const random = chance();
  if (random == nullptr || streams.empty()) return;
  CUstream_st& chosen = *streams[(*random)() % streams.size()];
  run_until(chosen, chosen.done + (*random)() % 4);
}

void lose(int gpu) {
  lost[gpu] = fault;
  changed.notify_all();
}

void count_kernel() {
  ++kernel_count;
  if (gpu_of_fault >= 0 && gpu_at_work != gpu_of_fault) return;
  if (kernels_left > 0 && --kernels_left == 0) lose(gpu_at_work);
}

CUstream_st* new_stream(int gpu) {
  auto* const stream = new CUstream_st;
  stream->gpu = gpu;
  stream->hurries = machine().hurry;
  streams.push_back(stream);
  return stream;
}

/// The legacy stream comes after all that streams hold which it blocks, and they come after what it holds.
void order_with_legacy(CUstream_st& stream) {
  const auto come_after_all_of = [&](CUstream_st* other) {
    if (steps_queued(*other) > other->done) stream.waiting.push_back(after_steps(other, steps_queued(*other)));
  };
  const auto legacy = legacy_streams.find(stream.gpu);
  if (stream.blocks && legacy != legacy_streams.end()) come_after_all_of(legacy->second);
  if (!stream.is_legacy) return;
  for (CUstream_st* const other : streams) {
    if (other->blocks && other->gpu == stream.gpu) come_after_all_of(other);
  }
}

}  // namespace

CUstream_st& stream_of(cudaStream_t handle) {
  if (handle != nullptr && handle != cudaStreamLegacy) return *handle;
  CUstream_st*& stream = legacy_streams[gpu_of_thread()];
  if (stream == nullptr) {
    stream = new_stream(gpu_of_thread());
    stream->is_legacy = true;
  }
  return *stream;
}

std::size_t steps_queued(const CUstream_st& stream) {
  return stream.done + stream.waiting.size();
}

void wait_until(std::unique_lock<std::recursive_mutex>& lock, CUstream_st* stream, std::size_t ticket) {
  while (is_there(stream)) {
    run_until(*stream, ticket);
    if (stream->done >= ticket || stream->waiting.empty()) return;
    changed.wait(lock);
  }
}

Step after_steps(CUstream_st* from, std::size_t ticket) {
  const auto reached = [from, ticket] {
    if (!is_there(from)) return true;
    run_until(*from, ticket);
    return from->done >= ticket;
  };
  return {.ready = reached, .work = nullptr};
}

void add_waiting(CUstream_st& stream, const StepMaker& make) {
  order_with_legacy(stream);
  stream.waiting.push_back(make(&stream, steps_queued(stream) + 1));
  if (stream.hurries) run_all(stream);
  run_by_chance();
  changed.notify_all();
}

void add_mark(CUstream_st& stream) {
  if (stream.is_legacy) add_waiting(stream, [](cudaStream_t, std::size_t) { return Step{}; });
}

void count_launch() {
  ++launch_count;
}
cudaError_t lost_with(int gpu) {
  const auto found = lost.find(gpu);
  return found == lost.end() ? cudaSuccess : found->second;
}
std::minstd_rand* chance() {
  static const char* const seed = std::getenv("CUDA_ON_CPU_SEED");
  static std::minstd_rand& random = *new std::minstd_rand(seed == nullptr ? 1 : std::strtoul(seed, nullptr, 10) + 1);
  return seed == nullptr ? nullptr : &random;
}

void fail_after(int kernels, cudaError_t error, int gpu) {
  const std::lock_guard lock(mutex);
  kernels_left = kernels;
  gpu_of_fault = gpu;
  fault = error;
  if (kernels == 0) lose(gpu < 0 ? gpu_of_thread() : gpu);
}

void fail_in_capture(int calls, cudaError_t error) {
  const std::lock_guard lock(mutex);
  captured_calls_left = calls;
  fault = error;
}

void mend() {
  const std::lock_guard lock(mutex);
  kernels_left = captured_calls_left = -1;
  last_error = cudaSuccess;
  for (CUstream_st* stream : streams) {  // what was queued was lost with the GPU
    if (lost_with(stream->gpu) == cudaSuccess) continue;
    stream->done += stream->waiting.size();
    stream->waiting.clear();
  }
  lost.clear();
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

cudaError_t result(cudaError_t status, int gpu) {
  const std::lock_guard lock(mutex);
  if (status == cudaSuccess) status = lost_with(gpu);
  if (status != cudaSuccess) last_error = status;
  return status;
}

std::size_t launches() {
  return launch_count;
}
std::size_t kernels_run() {
  return kernel_count;
}

namespace {

cudaError_t queue_work(cudaStream_t stream, std::function<void()> work) {
  return queue_steps(stream, [work = std::move(work)](cudaStream_t, std::size_t) {
    return Step{.ready = nullptr, .work = [work] {
                  work();
                  count_kernel();
                }};
  });
}

}  // namespace

cudaError_t queue(cudaStream_t handle, std::function<void()> work, double milliseconds) {
  const std::lock_guard lock(mutex);
  CUstream_st& stream = stream_of(handle);
  if (stream.gpu != gpu_of_thread()) return result(cudaErrorInvalidResourceHandle);
  if (stream.capture == nullptr) stream.milliseconds += milliseconds;
  return queue_work(&stream, std::move(work));
}

cudaError_t queue_copy(cudaStream_t stream, std::function<void()> work) {
  return queue_work(stream, std::move(work));
}

cudaError_t queue_steps(cudaStream_t handle, StepMaker make) {
  const std::lock_guard lock(mutex);
  CUstream_st& stream = stream_of(handle);
  if (stream.capture != nullptr && captured_calls_left >= 0 && captured_calls_left-- == 0) lose(stream.gpu);
  if (const cudaError_t refused = refusal_of(stream); refused != cudaSuccess) return result(refused);
  if (stream.capture != nullptr) {
    add_node(stream, std::move(make));
  } else {
    ++launch_count;
    add_waiting(stream, make);
  }
  return cudaSuccess;
}

LibraryRuntime::LibraryRuntime() : of_program_(std::exchange(last_error, cudaSuccess)) {}
LibraryRuntime::~LibraryRuntime() {
  last_error = of_program_;
}

extern "C" {

cudaError_t cudaGetLastError() {
  return std::exchange(last_error, cudaSuccess);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const std::lock_guard lock(mutex);
  const int gpu = gpu_of_thread();
  if (lost_with(gpu) != cudaSuccess) return result(lost_with(gpu));
  if (const cudaError_t refused = make_context(gpu); refused != cudaSuccess) return refused;
  *stream = new_stream(gpu);
  (*stream)->blocks = (flags & cudaStreamNonBlocking) == 0;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  if (stream == nullptr || stream == cudaStreamLegacy) return result(cudaErrorInvalidResourceHandle);
  run_all(*stream);
  std::erase(streams, stream);
  ended.emplace_back(stream);
  changed.notify_all();
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  auto lock = lock_streams();
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  CUstream_st& stream = stream_of(handle);
  if (const cudaError_t refused = refusal_to_wait(stream); refused != cudaSuccess) return result(refused);
  add_mark(stream);
  wait_until(lock, &stream, steps_queued(stream));
  return result(cudaSuccess, stream.gpu);
}
cudaError_t cudaStreamQuery(cudaStream_t handle) {
  const std::lock_guard lock(mutex);
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  CUstream_st& stream = stream_of(handle);
  if (const cudaError_t refused = refusal_to_wait(stream); refused != cudaSuccess) return result(refused);
  add_mark(stream);
  return stream.waiting.empty() || lost_with(stream.gpu) != cudaSuccess ? result(cudaSuccess, stream.gpu)
                                                                        : cudaErrorNotReady;
}
cudaError_t cudaDeviceSynchronize() {
  auto lock = lock_streams();
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  const int gpu = gpu_of_thread();
  if (const cudaError_t refused = unless_capturing(); refused != cudaSuccess) return refused;
  for (CUstream_st* const stream : std::vector(streams)) {
    if (stream->gpu == gpu) wait_until(lock, stream, steps_queued(*stream));
  }
  return result(cudaSuccess, gpu);
}
}

}  // namespace gpubench::cuda_on_cpu
