// The simulated CUDA refuses what a real one refuses: whoever relies on something that is forbidden fails here, without
// a GPU.
#include <array>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "tests/support/cuda_on_cpu/block.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/simulation_kernels.h"

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

TEST_F(SimulatedCapture, AKernelWasLoadedBefore) {
  EXPECT_EQ(cuda_on_cpu::launch_turning(stream_, cuda_on_cpu::MissingBarrier::none, nullptr),
            cudaErrorStreamCaptureUnsupported)
      << "no other test of this program launches it";
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

/// A machine of three GPUs.
class SimulatedPeers : public testing::Test {
 protected:
  void SetUp() override {
    machine_ = cuda_on_cpu::machine();
    cuda_on_cpu::machine().gpus = 3;
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    static_cast<void>(cudaGetLastError());
    cuda_on_cpu::machine() = machine_;
  }
  static void* allocate(int gpu, std::size_t bytes) {
    void* memory = nullptr;
    EXPECT_EQ(cudaSetDevice(gpu), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    return memory;
  }

  cudaStream_t stream_ = nullptr;

 private:
  cuda_on_cpu::Machine machine_;
};

TEST_F(SimulatedPeers, AccessIsOfOneGpuToAnotherThatItCanReach) {
  int can = -1;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 1, 1), cudaSuccess);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 3), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaSuccess);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
  cuda_on_cpu::machine().peers = false;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessUnsupported);
}

TEST_F(SimulatedPeers, CopiesNameTheGpusOfTheirMemory) {
  const std::array numbers{1, 2, 3, 4};
  std::array<int, 4> copied{};
  void *const first = allocate(1, sizeof numbers), *const second = allocate(2, sizeof numbers);
  EXPECT_EQ(cudaMemcpyAsync(first, numbers.data(), sizeof numbers, cudaMemcpyDefault, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemcpyPeerAsync(second, 2, first, 1, sizeof numbers, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(copied.data(), second, sizeof numbers, cudaMemcpyDefault, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(copied, numbers);
  EXPECT_EQ(cudaMemcpyPeerAsync(second, 1, first, 1, sizeof numbers, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyPeerAsync(second, 2, first, 1, sizeof numbers + 1, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyPeerAsync(second, 2, first, 3, sizeof numbers, stream_), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(cudaFree(second), cudaSuccess);
}

class SimulatedWarps : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess); }
  void TearDown() override { EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess); }
  void fail(cuda_on_cpu::WarpFault fault) const {
    cuda_on_cpu::launch_wrong_warp(stream_, fault);
    cudaStreamSynchronize(stream_);
  }

  cudaStream_t stream_ = nullptr;
};
using SimulatedWarpsDeathTest = SimulatedWarps;

TEST_F(SimulatedWarps, PartsThatMasksNameMeetApart) {
  std::array<unsigned, 32> sums{};
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, sizeof sums), cudaSuccess);
  EXPECT_EQ(cuda_on_cpu::launch_diverging_warp(stream_, static_cast<unsigned*>(memory)), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(sums.data(), memory, sizeof sums, cudaMemcpyDefault, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  for (std::size_t lane = 0; lane < sums.size(); ++lane) {
    EXPECT_EQ(sums[lane], lane < 16 ? 120U : lane % 2 == 0 ? 0x55000000U : 0U) << "lane " << lane;
  }
}

TEST_F(SimulatedWarpsDeathTest, RefuseMasksThatMeanNothing) {
  using cuda_on_cpu::WarpFault;
  EXPECT_DEATH(
      fail(WarpFault::caller_not_in_mask),
      "kernel .*wrong_warp_kernel.*, thread \\(5, 0, 0\\): __syncwarp with the mask 0x0000ffdf, which does not name "
      "its caller, lane 5");
  EXPECT_DEATH(fail(WarpFault::different_masks),
               "lane 1 is at __syncwarp with the mask 0x00000007, but lane 0 at __syncwarp with the mask 0x00000003");
  EXPECT_DEATH(fail(WarpFault::value_of_no_lane), "lane 0 takes the value of lane 16, which does not take part");
  EXPECT_DEATH(fail(WarpFault::lane_that_never_comes),
               "lane 0 of warp 0 waits at __syncwarp with the mask 0xffffffff for lanes 0xfffffffe, which never come");
}

TEST(SimulatedLoadsDeathTest, MustBeAligned) {
  alignas(16) static const char memory[32] = {};
  cuda_on_cpu::check_alignment(memory + 16, 16);
  EXPECT_DEATH(cuda_on_cpu::check_alignment(memory + 8, 16), "misaligned address");
}

}  // namespace
}  // namespace gpubench::cuda
