// The simulated CUDA refuses launches, accesses of other GPUs and meetings of warps that a real one refuses.
#include <array>
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cuda_on_cpu/block.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/simulation_kernels.h"

namespace gpubench::cuda {
namespace {

/// A stream into which launches are tried.
class SimulatedLaunches : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess); }
  void TearDown() override {
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
  /// What a launch returns, which cudaGetLastError() repeats.
  cudaError_t launch(dim3 blocks, dim3 threads, std::size_t shared_bytes = 0) const {
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream_;
    const std::size_t before = cuda_on_cpu::launches();
    const cudaError_t status = cuda_on_cpu::launch_nothing(config);
    EXPECT_EQ(cuda_on_cpu::launches() - before, status == cudaSuccess ? 1U : 0U);
    EXPECT_EQ(cudaGetLastError(), status);
    return status;
  }

  cudaStream_t stream_ = nullptr;
};

TEST_F(SimulatedLaunches, HaveTheLimitsOfAGpu) {
  EXPECT_EQ(launch(dim3(2, 3, 4), dim3(4, 4, 64)), cudaSuccess);
  EXPECT_EQ(launch(dim3(1), dim3(1024)), cudaSuccess);
  for (const dim3 blocks : {dim3(0), dim3(0x80000000U), dim3(1, 65536), dim3(1, 1, 65536)}) {
    EXPECT_EQ(launch(blocks, dim3(1)), cudaErrorInvalidConfiguration) << blocks.x << ' ' << blocks.y;
  }
  for (const dim3 threads : {dim3(0), dim3(1, 1, 65), dim3(1025), dim3(1, 1025), dim3(32, 33), dim3(32, 1, 64)}) {
    EXPECT_EQ(launch(dim3(1), threads), cudaErrorInvalidConfiguration) << threads.x << ' ' << threads.y;
  }
}

TEST(SimulatedMemory, WhatIsFreedLeavesItsNeighboursValues) {
  constexpr std::size_t bytes = (std::size_t{1} << 20) + 512;  // large, and it ends within a page
  void *freed = nullptr, *neighbour = nullptr;
  ASSERT_EQ(cudaMalloc(&freed, bytes), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&neighbour, bytes), cudaSuccess);
  ASSERT_EQ(neighbour, static_cast<std::byte*>(freed) + bytes);
  std::array<unsigned char, 256> values{};
  values.fill(7);
  ASSERT_EQ(cudaMemcpy(neighbour, values.data(), values.size(), cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaFree(freed), cudaSuccess);
  values.fill(0);
  ASSERT_EQ(cudaMemcpy(values.data(), neighbour, values.size(), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_THAT(values, testing::Each(7));
  EXPECT_EQ(cudaFree(neighbour), cudaSuccess);
}

TEST_F(SimulatedLaunches, MoreSharedMemoryMustBeAllowed) {
  constexpr std::size_t kib = 1024;
  EXPECT_EQ(launch(dim3(1), dim3(32), 48 * kib), cudaSuccess);
  EXPECT_EQ(launch(dim3(1), dim3(32), 48 * kib + 1), cudaErrorInvalidValue);
  const auto allow = [](int bytes) {
    const cudaError_t status = cudaFuncSetAttribute(cuda_on_cpu::nothing_kernel_function(),
                                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    EXPECT_EQ(cudaGetLastError(), status);
    return status;
  };
  EXPECT_EQ(allow(227 * kib + 1), cudaErrorInvalidValue);
  EXPECT_EQ(allow(64 * kib), cudaSuccess);
  EXPECT_EQ(launch(dim3(1), dim3(32), 64 * kib), cudaSuccess);
  EXPECT_EQ(launch(dim3(1), dim3(32), 64 * kib + 1), cudaErrorInvalidValue);
}

TEST_F(SimulatedLaunches, NoBlockComesAfterAnotherByItsNumber) {
  std::array<int, 9> numbers{};
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, sizeof numbers), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(memory, 0, sizeof numbers, stream_), cudaSuccess);
  ASSERT_EQ(cuda_on_cpu::launch_wrong_global(stream_, cuda_on_cpu::GlobalFault::block_reads_from_another, 8,
                                             static_cast<int*>(memory)),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(numbers.data(), memory, sizeof numbers, cudaMemcpyDefault, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_NE(numbers, (std::array{0, 1, 2, 3, 4, 5, 6, 7, 8}));
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
