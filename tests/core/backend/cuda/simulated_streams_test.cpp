// The simulated CUDA refuses what streams, events and captures of a real one refuse.
#include <cstdlib>
#include <cuda_runtime_api.h>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/simulation_kernels.h"

namespace gpubench::cuda {
namespace {

/// A machine of two GPUs, of which the first is selected.
class SimulatedStreams : public testing::Test {
 protected:
  void SetUp() override {
    machine_ = cuda_on_cpu::machine();
    cuda_on_cpu::machine().gpus = 2;
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    stream_ = new_stream(0);
    memory_ = allocate(0);
    copy_in(stream_);  // kernels are loaded at their first launch
    ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    for (cudaEvent_t const event : events_) EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
    for (cudaStream_t const stream : streams_) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    for (int* const memory : memories_) EXPECT_EQ(cudaFree(memory), cudaSuccess);
    static_cast<void>(cudaGetLastError());
    cuda_on_cpu::machine() = machine_;
  }

  cudaStream_t new_stream(int gpu, unsigned flags = cudaStreamNonBlocking) {
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaSetDevice(gpu), cudaSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    return streams_.emplace_back(stream);
  }
  cudaEvent_t new_event(int gpu, unsigned flags = cudaEventDefault) {
    cudaEvent_t event = nullptr;
    EXPECT_EQ(cudaSetDevice(gpu), cudaSuccess);
    EXPECT_EQ(cudaEventCreateWithFlags(&event, flags), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    return events_.emplace_back(event);
  }
  int* allocate(int gpu) {
    void* memory = nullptr;
    EXPECT_EQ(cudaSetDevice(gpu), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&memory, 64), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    return memories_.emplace_back(static_cast<int*>(memory));
  }
  cudaError_t copy_in(cudaStream_t stream) const { return cuda_on_cpu::launch_copy(stream, 4, memory_ + 4, memory_); }

  cudaStream_t stream_ = nullptr;
  int* memory_ = nullptr;

 private:
  cuda_on_cpu::Machine machine_;
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> events_;
  std::vector<int*> memories_;
};

TEST_F(SimulatedStreams, KernelsAreForTheGpuThatIsSelected) {
  cudaStream_t const other = new_stream(1);
  EXPECT_EQ(copy_in(other), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaMemsetAsync(allocate(1), 0, 4, other), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaMemcpyAsync(memory_, memory_ + 4, 4, cudaMemcpyDefault, other), cudaSuccess) << "copies may be for any";
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess) << "so may waits";
}

TEST_F(SimulatedStreams, CallsMakeTheContextOfTheGpuThatTheThreadHasSelected) {
  cudaStream_t const other = new_stream(1);
  cudaEvent_t const event = new_event(1);
  const std::vector<std::function<cudaError_t()>> calls{
      [&] { return cudaEventQuery(event); },
      [&] { return cudaEventSynchronize(event); },
      [&] { return cudaEventRecord(event, other); },
      [&] { return cudaStreamWaitEvent(other, event, 0); },
      [&] { return cudaStreamQuery(other); },
      [&] { return cudaStreamSynchronize(other); },
      [&] { return cudaMemcpyAsync(memory_, memory_ + 4, 4, cudaMemcpyDefault, other); },
      [] { return cudaFree(nullptr); },
      [] { return cudaFreeHost(nullptr); },
      [] { return cudaDeviceSynchronize(); }};
  for (std::size_t call = 0; call < calls.size(); ++call) {
    ASSERT_EQ(cudaStreamSynchronize(other), cudaSuccess);
    cuda_on_cpu::forget_contexts();
    std::jthread([&] { EXPECT_EQ(calls[call](), cudaSuccess) << "call " << call; }).join();
    EXPECT_EQ(cuda_on_cpu::contexts(), std::set<int>{0}) << "call " << call;
    cuda_on_cpu::machine().taken = {0};
    std::jthread([&] { EXPECT_EQ(calls[call](), cudaErrorDevicesUnavailable) << "call " << call; }).join();
    cuda_on_cpu::machine().taken = {};
  }
}

TEST_F(SimulatedStreams, CallsThatOnlyAskForGpusMakeNoContext) {
  cuda_on_cpu::forget_contexts();
  std::jthread([] {
    int number = 0;
    cudaDeviceProp properties{};
    EXPECT_EQ(cudaGetDeviceCount(&number), cudaSuccess);
    EXPECT_EQ(cudaGetDevice(&number), cudaSuccess);
    EXPECT_EQ(cudaDriverGetVersion(&number), cudaSuccess);
    EXPECT_EQ(cudaRuntimeGetVersion(&number), cudaSuccess);
    EXPECT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
    EXPECT_EQ(cudaDeviceGetAttribute(&number, cudaDevAttrComputeMode, 0), cudaSuccess);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }).join();
  EXPECT_TRUE(cuda_on_cpu::contexts().empty());
}

TEST_F(SimulatedStreams, AnEventIsRecordedInStreamsOfItsGpu) {
  cudaEvent_t const event = new_event(0);
  cudaStream_t const other = new_stream(1);
  EXPECT_EQ(cudaEventRecord(event, other), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(other, event, 0), cudaSuccess) << "any may wait for it";
}

TEST_F(SimulatedStreams, TimesLieBetweenTimedEventsOfOneGpuThatAreReached) {
  cudaEvent_t const first = new_event(0), last = new_event(0), untimed = new_event(0, cudaEventDisableTiming);
  cudaEvent_t const foreign = new_event(1);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, last), cudaErrorInvalidResourceHandle) << "never recorded";
  ASSERT_EQ(cudaEventRecord(first, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, last), cudaErrorInvalidResourceHandle) << "never recorded";
  ASSERT_EQ(copy_in(stream_), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(last, stream_), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(untimed, stream_), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(foreign, new_stream(1)), cudaSuccess);
  if (std::getenv("CUDA_ON_CPU_SEED") == nullptr) {
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, last), cudaErrorNotReady);
  }
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, last), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, untimed), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, foreign), cudaErrorInvalidResourceHandle);
}

TEST_F(SimulatedStreams, TheLegacyStreamIsOrderedWithStreamsThatBlockIt) {
  const std::vector<int> numbers{1, 2, 3, 4};
  std::vector<int> copied(4);
  cudaStream_t const blocking = new_stream(0, cudaStreamDefault);
  ASSERT_EQ(cudaMemcpyAsync(memory_, numbers.data(), 16, cudaMemcpyHostToDevice, blocking), cudaSuccess);
  ASSERT_EQ(copy_in(nullptr), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(copied.data(), memory_ + 4, 16, cudaMemcpyDeviceToHost, blocking), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(blocking), cudaSuccess);
  EXPECT_EQ(copied, numbers);
}

TEST_F(SimulatedStreams, SynchronousCopiesAreDoneWhenTheyReturn) {
  const std::vector<int> numbers{5, 6, 7, 8};
  std::vector<int> copied(4);
  EXPECT_EQ(cudaMemcpy(memory_, numbers.data(), 16, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(copied.data(), memory_, 16, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(copied, numbers);
}

TEST_F(SimulatedStreams, KindsOfCopiesAreWhatTheirPointersAre) {
  std::vector<int> host(4);
  const auto copy = [&](void* to, const void* from, cudaMemcpyKind kind) {
    return cudaMemcpyAsync(to, from, 16, kind, stream_);
  };
  EXPECT_EQ(copy(memory_, memory_ + 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(copy(memory_, host.data(), cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(copy(memory_, host.data(), cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(copy(host.data(), memory_, cudaMemcpyHostToHost), cudaErrorInvalidValue);
  void* locked = nullptr;
  ASSERT_EQ(cudaHostAlloc(&locked, 16, 0), cudaSuccess);
  EXPECT_EQ(copy(memory_, locked, cudaMemcpyDeviceToDevice), cudaSuccess) << "GPUs reach page-locked memory";
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(locked), cudaSuccess);
}

TEST_F(SimulatedStreams, OneGpuIsLostAndOthersGoOn) {
  cuda_on_cpu::fail_after(1, cudaErrorIllegalAddress, 0);
  ASSERT_EQ(copy_in(stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorIllegalAddress);
  EXPECT_EQ(copy_in(stream_), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  cudaStream_t other = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  cuda_on_cpu::mend();
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
}

/// A stream that is captured.
class SimulatedCapture : public SimulatedStreams {
 protected:
  void SetUp() override {
    SimulatedStreams::SetUp();
    event_ = new_event(0, cudaEventDisableTiming);
    begin();
  }
  void TearDown() override {
    cudaGraph_t graph = nullptr;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    EXPECT_EQ(cudaStreamIsCapturing(stream_, &status), cudaSuccess);
    if (status != cudaStreamCaptureStatusNone) {
      EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
      EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    }
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess) << "the capture is over";
    SimulatedStreams::TearDown();
  }
  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) const {
    ASSERT_EQ(cudaStreamBeginCapture(stream_, mode), cudaSuccess);
  }
  cudaGraph_t end() const {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
    return graph;
  }
  /// The call fails and makes the capture invalid. Ends it and begins another.
  void expect_forbidden(const char* what, const std::function<cudaError_t()>& call,
                        cudaError_t error = cudaErrorStreamCaptureUnsupported) const {
    SCOPED_TRACE(what);
    EXPECT_EQ(call(), error);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    EXPECT_EQ(cudaStreamIsCapturing(stream_, &status), cudaSuccess);
    EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
    EXPECT_EQ(copy_in(stream_), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(cudaEventRecord(event_, stream_), cudaErrorStreamCaptureInvalidated);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    begin();
  }

  cudaEvent_t event_ = nullptr;
};

TEST_F(SimulatedCapture, MemoryIsNeitherTakenNorGivenBack) {
  void* memory = nullptr;
  expect_forbidden("cudaMalloc", [&] { return cudaMalloc(&memory, 64); });
  expect_forbidden("cudaHostAlloc", [&] { return cudaHostAlloc(&memory, 64, 0); });
  expect_forbidden("cudaFree", [&] { return cudaFree(nullptr); });
  expect_forbidden("cudaFreeHost", [&] { return cudaFreeHost(nullptr); });
}

TEST_F(SimulatedCapture, NobodyWaitsOrAsks) {
  cudaStream_t const other = new_stream(0);
  expect_forbidden("cudaStreamSynchronize", [&] { return cudaStreamSynchronize(stream_); });
  expect_forbidden("cudaStreamSynchronize", [&] { return cudaStreamSynchronize(other); });
  expect_forbidden("cudaStreamQuery", [&] { return cudaStreamQuery(other); });
  expect_forbidden("cudaDeviceSynchronize", [&] { return cudaDeviceSynchronize(); });
  expect_forbidden("cudaEventQuery", [&] { return cudaEventQuery(event_); });
  expect_forbidden("cudaEventSynchronize", [&] { return cudaEventSynchronize(event_); });
  int number = 0;
  expect_forbidden("cudaMemcpy", [&] { return cudaMemcpy(memory_, &number, 4, cudaMemcpyHostToDevice); });
}

TEST_F(SimulatedCapture, AKernelWasLoadedBefore) {
  expect_forbidden("no other test of this program launches it",
                   [&] { return cuda_on_cpu::launch_turning(stream_, cuda_on_cpu::MissingBarrier::none, nullptr); });
}

TEST_F(SimulatedCapture, OtherThreadsMayWaitUnlessItsModeIsGlobal) {
  const auto malloc_of_another_thread = [] {
    cudaError_t status = cudaSuccess;
    std::jthread([&] {
      void* memory = nullptr;
      status = cudaMalloc(&memory, 64);
      if (status == cudaSuccess) status = cudaFree(memory);
    }).join();
    return status;
  };
  EXPECT_EQ(malloc_of_another_thread(), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(end()), cudaSuccess);
  begin(cudaStreamCaptureModeGlobal);
  expect_forbidden("cudaMalloc", malloc_of_another_thread);
  EXPECT_EQ(cudaGraphDestroy(end()), cudaSuccess);
  begin(cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess) << "which forbids nothing";
}

TEST_F(SimulatedCapture, EndsInTheStreamAndTheThreadInWhichItBegan) {
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(new_stream(0), &graph), cudaErrorIllegalState) << "a stream that is not captured";
  cudaStream_t const branch = new_stream(0);
  ASSERT_EQ(cudaEventRecord(event_, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(branch, event_, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(branch, &graph), cudaErrorStreamCaptureUnmatched);
  std::jthread([&] { EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureWrongThread); }).join();
  EXPECT_EQ(graph, nullptr);
}

TEST_F(SimulatedCapture, GivesNoGraphWithoutTheWorkOfItsBranches) {
  cudaStream_t const branch = new_stream(0);
  ASSERT_EQ(cudaEventRecord(event_, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(branch, event_, 0), cudaSuccess);
  ASSERT_EQ(copy_in(branch), cudaSuccess);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
}

TEST_F(SimulatedCapture, ItsEventsMeanNothingOutside) {
  cudaStream_t const other = new_stream(0);
  ASSERT_EQ(cudaEventRecord(event_, stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(end()), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(other, event_, 0), cudaErrorStreamCaptureIsolation);
  EXPECT_EQ(cudaEventQuery(event_), cudaErrorCapturedEvent);
  EXPECT_EQ(cudaEventSynchronize(event_), cudaErrorCapturedEvent);
  EXPECT_EQ(cudaEventRecord(event_, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event_), cudaSuccess) << "recorded again outside";
  begin();
  expect_forbidden(
      "cudaStreamWaitEvent", [&] { return cudaStreamWaitEvent(stream_, event_, 0); }, cudaErrorStreamCaptureIsolation);
}

TEST_F(SimulatedCapture, IsNotMergedWithAnother) {
  cudaStream_t const other = new_stream(0);
  ASSERT_EQ(cudaStreamBeginCapture(other, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  cudaEvent_t const there = new_event(0);
  ASSERT_EQ(cudaEventRecord(there, other), cudaSuccess);
  expect_forbidden(
      "cudaStreamWaitEvent", [&] { return cudaStreamWaitEvent(stream_, there, 0); }, cudaErrorStreamCaptureMerge);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureInvalidated);
}

TEST_F(SimulatedCapture, TheLegacyStreamIsForbiddenIfItWouldWaitForIt) {
  EXPECT_EQ(copy_in(nullptr), cudaSuccess) << "which does not wait for streams that do not block it";
  cudaStream_t const blocking = new_stream(0, cudaStreamDefault);
  ASSERT_EQ(cudaEventRecord(event_, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(blocking, event_, 0), cudaSuccess);
  expect_forbidden(
      "a launch", [&] { return copy_in(nullptr); }, cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeThreadLocal), cudaErrorStreamCaptureUnsupported);
}

TEST_F(SimulatedCapture, WhatComesNextIsChosenAmongWhatIsThere) {
  const cudaGraphNode_t* nodes = nullptr;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  std::size_t count = 1;
  ASSERT_EQ(cudaStreamGetCaptureInfo(stream_, &status, nullptr, nullptr, &nodes, nullptr, &count), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  EXPECT_EQ(count, 0U) << "nothing was queued yet";
  EXPECT_EQ(cudaStreamUpdateCaptureDependencies(stream_, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies),
            cudaErrorInvalidValue);
}

TEST_F(SimulatedCapture, OneAtATime) {
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaErrorIllegalState);
}

}  // namespace
}  // namespace gpubench::cuda
