// Each fault that the simulated CUDA checks for ends a test with a message if the check is on, and passes if it is off.
#include <array>
#include <cstdlib>
#include <cuda_runtime_api.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string_view>

#include "tests/support/cuda_on_cpu/access.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/simulation_kernels.h"

namespace gpubench::cuda_on_cpu {
namespace {

class SimulatedChecksDeathTest : public testing::Test {
 protected:
  /// Queues on a stream of GPU 0.
  using Work = std::function<void(cudaStream_t)>;

  static void run(std::string_view check, const Work& work) {
    checks() = checks_named(check);
    machine().gpus = 2;
    cudaStream_t stream = nullptr;
    if (cudaSetDevice(0) != cudaSuccess) std::_Exit(1);
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) std::_Exit(1);
    work(stream);
    std::_Exit(cudaStreamSynchronize(stream) == cudaSuccess ? 0 : 1);
  }

  static void expect_fault(std::string_view check, const Work& work, const char* message) {
    EXPECT_EXIT(run("", work), testing::ExitedWithCode(0), "");
    EXPECT_DEATH(run(check, work), message);
  }
  static void expect_none(std::string_view check, const Work& work) {
    EXPECT_EXIT(run(check, work), testing::ExitedWithCode(0), "");
  }

  static int* allocate(int count, int gpu = 0) {
    void* memory = nullptr;
    if (cudaSetDevice(gpu) != cudaSuccess || cudaMalloc(&memory, count * sizeof(int)) != cudaSuccess) std::_Exit(1);
    if (cudaSetDevice(0) != cudaSuccess) std::_Exit(1);
    return static_cast<int*>(memory);
  }
  static int* freed(int count) {
    int* const memory = allocate(count);
    if (cudaFree(memory) != cudaSuccess) std::_Exit(1);
    return memory;
  }
};

TEST(SimulatedChecks, AnUnknownNameIsAnError) {
  EXPECT_TRUE(checks_named("memory").memory);
  EXPECT_FALSE(checks_named("memory").races);
  EXPECT_TRUE(checks_named("races,memory").races);
  EXPECT_FALSE(checks_named("").any());
  EXPECT_THAT([] { checks_named("memory,speed"); }, testing::ThrowsMessage<std::invalid_argument>(
                                                        "there is no check 'speed', only: memory, initialized, races"));
}

TEST_F(SimulatedChecksDeathTest, AKernelStaysWithinItsMemory) {
  expect_none("memory", [](cudaStream_t stream) { launch_copy(stream, 8, allocate(8), allocate(8)); });
}

TEST_F(SimulatedChecksDeathTest, BeyondAnAllocation) {
  const Work work = [](cudaStream_t stream) { launch_copy(stream, 8, allocate(6), allocate(8)); };
  expect_fault(
      "memory", work,
      "kernel .*copy_kernel.*, block \\(0, 0, 0\\), thread \\(6, 0, 0\\): writes 4 bytes at 0x[0-9a-f]+: 0 bytes "
      "behind the end of an allocation of 24 bytes on GPU 0");
}

TEST_F(SimulatedChecksDeathTest, BeforeAnAllocation) {
  const Work work = [](cudaStream_t stream) {
    int* const to = allocate(8);
    launch_copy(stream, 8, to, allocate(8) - 1);
  };
  expect_fault("memory", work,
               "thread \\(0, 0, 0\\): reads 4 bytes .*: 4 bytes before the begin of an allocation of 32");
}

TEST_F(SimulatedChecksDeathTest, FreedMemory) {
  const Work work = [](cudaStream_t stream) { launch_copy(stream, 8, allocate(8), freed(8) + 1); };
  expect_fault("memory", work, "reads 4 bytes .*: 4 bytes after the begin of a freed allocation of 32 bytes on GPU 0");
}

TEST_F(SimulatedChecksDeathTest, MemoryOfAnotherGpu) {
  const Work work = [](cudaStream_t stream) { launch_copy(stream, 8, allocate(8, 1), allocate(8)); };
  expect_fault("memory", work, "writes 4 bytes .*: memory of GPU 1, touched by GPU 0 without peer access");
}

TEST_F(SimulatedChecksDeathTest, PeerAccessGoesOneWay) {
  const auto work = [](int kernel, int memory) {
    return [=](cudaStream_t) {
      int *const to = allocate(8, memory), *const from = allocate(8, kernel);
      cudaStream_t stream = nullptr;
      if (cudaSetDevice(1) != cudaSuccess || cudaDeviceEnablePeerAccess(0, 0) != cudaSuccess) std::_Exit(1);
      if (cudaSetDevice(kernel) != cudaSuccess) std::_Exit(1);
      if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) std::_Exit(1);
      if (launch_copy(stream, 8, to, from) != cudaSuccess) std::_Exit(1);
      if (cudaStreamSynchronize(stream) != cudaSuccess) std::_Exit(1);
    };
  };
  expect_none("memory", work(1, 0));
  expect_fault("memory", work(0, 1), "writes 4 bytes .*: memory of GPU 1, touched by GPU 0 without peer access");
}

TEST_F(SimulatedChecksDeathTest, MemoryOfTheHost) {
  const Work work = [](cudaStream_t stream) { launch_copy(stream, 8, allocate(8), new int[8]{}); };
  expect_fault("memory", work, "reads 4 bytes .*: memory of the host that is not page-locked");
}

TEST_F(SimulatedChecksDeathTest, KernelsMayTouchPageLockedMemory) {
  expect_none("memory", [](cudaStream_t stream) {
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, 8 * sizeof(int), cudaHostAllocPortable) != cudaSuccess) std::_Exit(1);
    launch_copy(stream, 8, static_cast<int*>(memory), allocate(8));
  });
}

TEST_F(SimulatedChecksDeathTest, AKernelWithAllBarriersHasNoRaces) {
  expect_none("races", [](cudaStream_t stream) { launch_turning(stream, MissingBarrier::none, allocate(64)); });
}

TEST_F(SimulatedChecksDeathTest, ThreadsOfAWarpThatDoNotMeet) {
  const Work work = [](cudaStream_t stream) { launch_turning(stream, MissingBarrier::of_warp, allocate(64)); };
  expect_fault(
      "races", work,
      "kernel .*turning_kernel.*, block \\(0, 0, 0\\), thread \\([0-9]+, 0, 0\\): (reads|writes) 4 bytes at .*: "
      "shared memory that thread \\([0-9]+, 0, 0\\) (read|wrote), with no barrier between");
}

TEST_F(SimulatedChecksDeathTest, ThreadsOfABlockThatDoNotMeet) {
  const Work work = [](cudaStream_t stream) { launch_turning(stream, MissingBarrier::of_block, allocate(64)); };
  expect_fault("races", work, "4 bytes at .*: shared memory that thread .* (read|wrote), with no barrier between");
}

TEST_F(SimulatedChecksDeathTest, SharedMemoryThatIsUsedAgainTooEarly) {
  const Work work = [](cudaStream_t stream) { launch_turning(stream, MissingBarrier::before_reuse, allocate(64)); };
  expect_fault("races", work, "4 bytes at .*: shared memory that thread .* (read|wrote), with no barrier between");
}

TEST_F(SimulatedChecksDeathTest, MemoryThatWasWrittenMayBeRead) {
  expect_none("initialized", [](cudaStream_t stream) {
    int *const first = allocate(8), *const second = allocate(8), *const third = allocate(8);
    cudaMemsetAsync(first, 0, 32, stream);
    launch_copy(stream, 8, second, first);
    cudaMemcpyAsync(third, second, 32, cudaMemcpyDefault, stream);
    launch_copy(stream, 8, first, third);
    launch_through_shared(stream, 8, 8, second);
  });
}

TEST_F(SimulatedChecksDeathTest, MemoryThatWasNotWritten) {
  const Work work = [](cudaStream_t stream) {
    int* const from = allocate(8);
    cudaMemsetAsync(from, 0, 20, stream);
    launch_copy(stream, 8, allocate(8), from);
  };
  expect_fault(
      "initialized", work,
      "kernel .*copy_kernel.*, thread \\(5, 0, 0\\): reads 4 bytes at .*: 20 bytes after the begin of an allocation "
      "of 32 bytes on GPU 0 that nothing has written");
}

TEST_F(SimulatedChecksDeathTest, MemoryThatWasWrittenBeforeItWasFreed) {
  const Work work = [](cudaStream_t stream) {
    int* const before = allocate(8);
    cudaMemsetAsync(before, 0, 32, stream);
    if (cudaFree(before) != cudaSuccess) std::_Exit(1);
    int* const from = allocate(8);
    if (from != before) std::_Exit(1);
    launch_copy(stream, 8, allocate(8), from);
  };
  expect_fault("initialized", work,
               "0 bytes after the begin of an allocation of 32 bytes on GPU 0 that nothing has written");
}

TEST_F(SimulatedChecksDeathTest, CopiesOfMemoryThatWasNotWritten) {
  const Work work = [](cudaStream_t stream) {
    static std::array<int, 8> host{};
    int* const to = allocate(8);
    cudaMemcpyAsync(to, allocate(8), 32, cudaMemcpyDefault, stream);
    cudaMemcpyAsync(host.data(), to, 32, cudaMemcpyDefault, stream);
  };
  expect_fault("initialized", work,
               "cudaMemcpyAsync to the host reads 32 bytes: 0 bytes after the begin of an allocation");
}

TEST_F(SimulatedChecksDeathTest, SharedMemoryOfAnEarlierBlock) {
  const Work work = [](cudaStream_t stream) { launch_through_shared(stream, 8, 5, allocate(8)); };
  expect_fault(
      "initialized", work,
      "kernel .*through_shared_kernel.*, block \\(7, 0, 0\\), thread \\(0, 0, 0\\): reads 4 bytes at .*: shared "
      "memory that the block has not written");
}

TEST_F(SimulatedChecksDeathTest, MemoryThatIsNotAligned) {
  const auto work = [](GlobalFault fault) {
    return [fault](cudaStream_t stream) { launch_wrong_global(stream, fault, 1, allocate(8)); };
  };
  expect_fault("memory", work(GlobalFault::misaligned_quad),
               "kernel .*wrong_global_kernel.*: misaligned address 0x[0-9a-f]+8 of 16 bytes");
  expect_fault("memory", work(GlobalFault::misaligned_store), "misaligned address 0x[0-9a-f]+4 of 8 bytes");
}

TEST_F(SimulatedChecksDeathTest, AStaticVariableOfTheHost) {
  static std::array<int, 8> numbers{};
  expect_fault(
      "memory", [](cudaStream_t stream) { launch_copy(stream, 8, numbers.data(), allocate(8)); },
      "kernel .*copy_kernel.* is given the address 0x[0-9a-f]+ of a static variable of the host");
}

TEST_F(SimulatedChecksDeathTest, HalfOfANumberThatWasNotWritten) {
  const Work work = [](cudaStream_t stream) {
    int* const memory = allocate(8);
    cudaMemsetAsync(memory, 0, 4, stream);
    launch_wrong_global(stream, GlobalFault::half_of_a_number, 1, memory);
  };
  expect_fault("initialized", work,
               "reads 8 bytes at .*: 4 bytes after the begin of an allocation of 32 bytes on GPU 0 that nothing has");
}

TEST_F(SimulatedChecksDeathTest, MemoryThatTwoBlocksTouch) {
  const auto work = [](GlobalFault fault) {
    return [fault](cudaStream_t stream) { launch_wrong_global(stream, fault, 4, allocate(8)); };
  };
  const char* const message =
      "4 bytes at .*: memory that thread .* of another block (read|wrote), with nothing between";
  expect_fault("races", work(GlobalFault::block_reads_from_another), message);
  expect_fault("races", work(GlobalFault::block_writes_of_another), message);
  expect_fault("races", work(GlobalFault::thread_reads_from_another),
               "4 bytes at .*: memory that thread .* (read|wrote), with no barrier between");
}

TEST_F(SimulatedChecksDeathTest, OneLaunchComesAfterAnother) {
  expect_none("races", [](cudaStream_t stream) {
    int* const memory = allocate(8);
    launch_copy(stream, 4, memory, memory + 4);
    launch_copy(stream, 4, memory + 4, memory);
  });
}

// This costs next to nothing, so it is always checked.
TEST_F(SimulatedChecksDeathTest, CopiesAndFillsAreOfAllocatedMemory) {
  EXPECT_DEATH(run("", [](cudaStream_t stream) { cudaMemsetAsync(freed(8), 0, 32, stream); }),
               "cudaMemsetAsync writes 32 bytes: 0 bytes after the begin of a freed allocation of 32 bytes on GPU 0");
  EXPECT_DEATH(run("",
                   [](cudaStream_t stream) {
                     static std::array<int, 9> host{};
                     cudaMemcpyAsync(host.data(), allocate(8), sizeof host, cudaMemcpyDefault, stream);
                   }),
               "cudaMemcpyAsync reads 36 bytes: 0 bytes after the begin of an allocation of 32 bytes on GPU 0");
}

}  // namespace
}  // namespace gpubench::cuda_on_cpu
