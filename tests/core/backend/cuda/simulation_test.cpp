// The simulated CUDA refuses what a real one refuses: whoever relies on something that is forbidden fails here, without
// a GPU.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "tests/support/cuda_on_cpu/block.h"

namespace gpubench::cuda {
namespace {

/// A stream that is captured until the test ends.
class SimulatedCapture : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  }
  void TearDown() override {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess) << "the capture is over";
    EXPECT_EQ(cudaEventDestroy(event_), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    static_cast<void>(cudaGetLastError());
  }

  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

TEST_F(SimulatedCapture, MemoryIsNeitherTakenNorGivenBack) {
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 64), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaHostAlloc(&memory, 64, 0), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaFree(nullptr), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaFreeHost(nullptr), cudaErrorStreamCaptureUnsupported);
}

TEST_F(SimulatedCapture, NobodyWaitsOrAsks) {
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaEventQuery(event_), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaEventSynchronize(event_), cudaErrorStreamCaptureUnsupported);
}

TEST_F(SimulatedCapture, OneAtATime) {
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaErrorIllegalState);
}

TEST(SimulatedEvents, OnlyTimedOnesHaveATime) {
  cudaEvent_t timed = nullptr, ordering = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&timed, cudaEventDefault), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&ordering, cudaEventDisableTiming), cudaSuccess);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, timed, timed), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, timed, ordering), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(timed), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(ordering), cudaSuccess);
  static_cast<void>(cudaGetLastError());
}

TEST(SimulatedLaunches, HaveTheLimitsOfAGpu) {
  const auto fits = [](dim3 blocks, dim3 threads) { return cuda_on_cpu::within_limits({blocks, threads}); };
  EXPECT_TRUE(fits(dim3(0x7FFFFFFF), dim3(1024)));
  EXPECT_TRUE(fits(dim3(1, 65535, 65535), dim3(32, 32)));
  EXPECT_FALSE(fits(dim3(0), dim3(1)));
  EXPECT_FALSE(fits(dim3(1), dim3(0)));
  EXPECT_FALSE(fits(dim3(0x80000000U), dim3(1)));
  EXPECT_FALSE(fits(dim3(1, 65536), dim3(1)));
  EXPECT_FALSE(fits(dim3(1), dim3(32, 33)));
}

TEST(SimulatedLoadsDeathTest, MustBeAligned) {
  alignas(16) static const char memory[32] = {};
  cuda_on_cpu::check_alignment(memory + 16, 16);
  EXPECT_DEATH(cuda_on_cpu::check_alignment(memory + 8, 16), "misaligned address");
}

}  // namespace
}  // namespace gpubench::cuda
