// CUDA's events, on the CPU.
#include <algorithm>
#include <mutex>

#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/stream_state.h"

namespace gpubench::cuda_on_cpu {
namespace {

bool is_done(const CUevent_st& event) {
  return event.stream == nullptr || event.stream->done >= event.ticket;
}

/// Why nothing may ask when the event is reached.
cudaError_t refusal_to_ask(const CUevent_st& event) {
  if (event.capture != nullptr) return invalidate(*event.capture, cudaErrorCapturedEvent);
  return unless_capturing();
}

/// The stream's next work comes after an event that was recorded in a capture: the stream becomes part of it.
cudaError_t join_capture(CUstream_st& stream, const CUevent_st& event) {
  Capture& capture = *event.capture;
  if (capture.has_ended) return cudaErrorStreamCaptureIsolation;
  if (stream.capture != nullptr && stream.capture != event.capture) {
    invalidate(*stream.capture, cudaErrorStreamCaptureMerge);
    return invalidate(capture, cudaErrorStreamCaptureMerge);
  }
  if (capture.is_invalid) return stream.capture == nullptr ? cudaErrorInvalidValue : cudaErrorStreamCaptureInvalidated;
  const auto branch = capture.branches.find(event.stream);
  if (stream.capture == nullptr) {
    capture.branches.try_emplace(&stream);
    stream.ends.clear();
  }
  stream.capture = event.capture;
  come_after(stream.ends, event.ends);
  if (branch != capture.branches.end() && &stream == capture.origin) {
    branch->second.joined = std::max(branch->second.joined, event.ticket);
  }
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const auto lock = lock_streams();
  const int gpu = gpu_of_thread();
  if (lost_with(gpu) != cudaSuccess) return result(lost_with(gpu));
  if (const cudaError_t refused = make_context(gpu); refused != cudaSuccess) return refused;
  *event = new CUevent_st;
  (*event)->gpu = gpu;
  (*event)->timed = (flags & cudaEventDisableTiming) == 0;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const auto lock = lock_streams();
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  const auto lock = lock_streams();
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  CUstream_st& stream = stream_of(handle);
  if (event->gpu != stream.gpu) return result(cudaErrorInvalidResourceHandle);
  if (const cudaError_t refused = refusal_of(stream); refused != cudaSuccess) return result(refused);
  if (stream.capture == nullptr) add_mark(stream);
  event->stream = &stream;
  event->milliseconds = stream.milliseconds;
  event->ticket = steps_queued(stream);
  event->capture = stream.capture;
  event->ends = stream.ends;
  if (event->capture != nullptr && event->capture->branches.contains(&stream)) {
    event->ticket = event->capture->branches[&stream].queued;
  }
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const auto lock = lock_streams();
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  if (const cudaError_t refused = refusal_to_ask(*event); refused != cudaSuccess) return result(refused);
  const bool done = is_done(*event) || lost_with(event->gpu) != cudaSuccess;
  return done ? result(cudaSuccess, event->gpu) : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  auto lock = lock_streams();
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  const int gpu = event->gpu;  // another thread may destroy the event meanwhile
  if (const cudaError_t refused = refusal_to_ask(*event); refused != cudaSuccess) return result(refused);
  if (event->stream != nullptr) wait_until(lock, event->stream, event->ticket);
  return result(cudaSuccess, gpu);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const auto lock = lock_streams();
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  if (!start->timed || !end->timed || start->gpu != end->gpu) return result(cudaErrorInvalidResourceHandle);
  for (const CUevent_st* const event : {start, end}) {
    if (event->stream == nullptr) return result(cudaErrorInvalidResourceHandle);
    if (event->capture != nullptr) return result(invalidate(*event->capture, cudaErrorCapturedEvent));
    if (!is_done(*event) && lost_with(event->gpu) == cudaSuccess) return cudaErrorNotReady;
  }
  *milliseconds = 0.001F + static_cast<float>(end->milliseconds - start->milliseconds);
  return result(cudaSuccess, start->gpu);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  const auto lock = lock_streams();
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  CUstream_st& stream = stream_of(handle);
  if (event->stream == nullptr) return result(cudaSuccess, stream.gpu);
  if (event->capture != nullptr) return result(join_capture(stream, *event), stream.gpu);
  if (stream.capture != nullptr) return result(invalidate(*stream.capture, cudaErrorStreamCaptureIsolation));
  if (const cudaError_t refused = refusal_of(stream); refused != cudaSuccess) return result(refused);
  if (event->stream == &stream) return cudaSuccess;
  add_waiting(stream, [from = event->stream, ticket = event->ticket](cudaStream_t, std::size_t) {
    return after_steps(from, ticket);
  });
  return cudaSuccess;
}
}

}  // namespace gpubench::cuda_on_cpu
