// Which GPUs there are, how they are split, and why one or all of them cannot be used.
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "core/backend/cuda/status.h"
#include "core/device/device.h"
#include "core/nvidia/gpu_fault.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/device_configs.h"
#include "tests/support/expect_error.h"

namespace gpubench::usable_gpus_test {
namespace {

using testing::HasSubstr;

const DeviceId gpu{DeviceId::Kind::gpu, 0, {}}, cpu{};

TEST(CudaDevices, OneGpuMayBeTwoLogicalOnesWithLimits) {
  const Devices devices(support::gpu_devices({{.memory = {.limit = 1U << 20U}}, {.memory = {.limit = 2U << 20U}}}));
  EXPECT_THAT(devices.ids(), testing::ElementsAre(gpu, DeviceId{DeviceId::Kind::gpu, 1, {}}, cpu));
  EXPECT_THROW(devices.device(gpu).memory().allocate(3U << 19U, "too much"), OutOfMemory);
  EXPECT_NO_THROW(devices.device({DeviceId::Kind::gpu, 1, {}}).memory().allocate(3U << 19U, "enough"));
}

TEST(CudaDevices, LimitsAndGpusThatAreNotThereAreErrors) {
  const auto with = [](int physical, std::size_t limit) {
    return support::gpu_devices({{.physical = physical, .memory = {.limit = limit}}});
  };
  EXPECT_ERROR("gpu:0: a memory limit of 1 TiB is more than the 512 MiB of CUDA on the CPU",
               Devices{with(0, std::size_t{1} << 40U)});
  EXPECT_ERROR("there is no GPU 3; there is 1", Devices{with(3, 0)});
}

TEST(CudaDevices, WithoutAGpuEveryErrorSaysWhy) {
  const auto absence = [](int gpus, cudaError_t broken, const char* visible) {
    const cuda_on_cpu::Machine before = cuda_on_cpu::machine();
    cuda_on_cpu::machine().gpus = gpus;
    cuda_on_cpu::machine().broken = broken;
    if (visible != nullptr) ::setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    const Devices devices(DeviceConfig{});
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    cuda_on_cpu::machine() = before;
    EXPECT_THAT(devices.ids(), testing::ElementsAre(cpu));
    EXPECT_ERROR("there is no device gpu:0; there is cpu:0: " + to_string(devices.absence(DeviceId::Kind::gpu)),
                 devices.device(gpu));
    return to_string(devices.absence(DeviceId::Kind::gpu));
  };
  // What the machine's own files show follows.
  const auto fault = driver_fault();
  EXPECT_EQ(absence(0, cudaErrorInsufficientDriver, nullptr),
            fault ? to_string(fault)
                  : "the NVIDIA driver's library libcuda.so.1 cannot be opened; install the libraries of the driver's "
                    "version; in a container, use the NVIDIA runtime");
  EXPECT_THAT(absence(0, cudaSuccess, nullptr), testing::StartsWith("the NVIDIA driver finds no GPU"));
  const std::string unset = "; unset CUDA_VISIBLE_DEVICES, or name GPUs ";
  EXPECT_EQ(absence(0, cudaSuccess, ""),
            "CUDA_VISIBLE_DEVICES is empty, which hides every GPU" + unset + "in it: CUDA_VISIBLE_DEVICES=0");
  EXPECT_EQ(absence(0, cudaSuccess, "-1"),
            "CUDA_VISIBLE_DEVICES=-1 hides every GPU" + unset + "in it: CUDA_VISIBLE_DEVICES=0");
  EXPECT_EQ(absence(0, cudaSuccess, "99"),
            "CUDA_VISIBLE_DEVICES=99 names no GPU of this machine" + unset + "that nvidia-smi -L lists");
  EXPECT_THAT(absence(1, cudaErrorInitializationError, nullptr), HasSubstr("the NVIDIA driver cannot be used: "));
  EXPECT_EQ(absence(1, cudaErrorSystemNotReady, nullptr),
            "the NVIDIA driver cannot be used: the service that connects the GPUs over NVSwitch is not running "
            "(cudaErrorSystemNotReady); start it: systemctl start nvidia-fabricmanager, as root");
}

TEST(CudaDevices, WithoutAGpuToHideTheReasonIsTheMachines) {
  const DeviceConfig none{{DeviceId::Kind::gpu, {.devices = std::vector<LogicalDevice>{}}}};
  EXPECT_EQ(to_string(Devices{none}.absence(DeviceId::Kind::gpu)),
            "the script hides all GPUs (gb.config.set_visible_devices); name GPUs in that call, or leave it out");
  const cuda_on_cpu::Machine before = cuda_on_cpu::machine();
  cuda_on_cpu::machine().gpus = 0;
  const Devices devices(none);
  cuda_on_cpu::machine() = before;
  EXPECT_THAT(to_string(devices.absence(DeviceId::Kind::gpu)), testing::StartsWith("the NVIDIA driver finds no GPU"));
}

TEST(CudaDevices, ADriverForAnOlderCudaIsNamed) {
  const cuda_on_cpu::Machine before = cuda_on_cpu::machine();
  cuda_on_cpu::machine().driver = 12080;
  const Devices devices{DeviceConfig{}};
  cuda_on_cpu::machine() = before;
  const auto fault = devices.absence(DeviceId::Kind::gpu);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->reason,
            "the NVIDIA driver is for CUDA 12.8, this program needs one for CUDA " + cuda_text(CUDART_VERSION));
  EXPECT_EQ(fault->remedy, "install an NVIDIA driver for CUDA 13 or later (nvidia-smi shows its CUDA version)");
}

/// What a GPU that cannot be used is called, where it is the only one.
std::string unusable(cudaError_t error, cudaComputeMode mode) {
  const cuda_on_cpu::Machine before = cuda_on_cpu::machine();
  cuda_on_cpu::machine().taken = {0};
  cuda_on_cpu::machine().taken_error = error;
  cuda_on_cpu::machine().compute_mode = mode;
  const Devices devices{DeviceConfig{}};
  EXPECT_EQ(devices.default_device(), cpu);
  cuda_on_cpu::machine() = before;
  EXPECT_THAT(devices.ids(), testing::ElementsAre(cpu));
  return to_string(devices.absence(DeviceId::Kind::gpu));
}

TEST(CudaDevices, AContextThatCannotBeMadeSaysWhyAndWhatToDo) {
  const std::string gpu_0 = "GPU 0 (CUDA on the CPU) cannot be used: ";
  EXPECT_EQ(
      unusable(cudaErrorDevicesUnavailable, cudaComputeModeExclusiveProcess),
      gpu_0 +
          "it is in exclusive mode, and another process holds it; end that process (nvidia-smi shows it), or allow "
          "several: nvidia-smi -i 00000000:01:00.0 -c DEFAULT, as root");
  EXPECT_EQ(unusable(cudaErrorDevicesUnavailable, cudaComputeModeDefault),
            gpu_0 +
                "it is busy or unavailable (cudaErrorDevicesUnavailable); end the process that holds it (nvidia-smi "
                "shows it), or choose another GPU with CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(unusable(cudaErrorDevicesUnavailable, cudaComputeModeProhibited),
            gpu_0 +
                "its compute mode PROHIBITED lets no process use it; allow it: nvidia-smi -i 00000000:01:00.0 -c "
                "DEFAULT, as root");
  EXPECT_EQ(unusable(cudaErrorMemoryAllocation, cudaComputeModeDefault),
            gpu_0 +
                "no memory is left on it for the context of this process; end other processes on it (nvidia-smi shows "
                "them), or choose another GPU with CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(
      unusable(cudaErrorIllegalAddress, cudaComputeModeDefault),
      gpu_0 +
          "an illegal memory access was encountered (cudaErrorIllegalAddress); look at nvidia-smi, and for NVRM in "
          "the kernel's messages: dmesg");
}

TEST(CudaDevices, KernelsThatTheGpuCannotRunSayWhatToBuild) {
  EXPECT_ERROR_OF(
      DeviceError,
      HasSubstr("(cudaErrorNoKernelImageForDevice): this program has no kernels for a GPU of its compute capability; "
                "build it with -DGPUBENCH_CUDA_ARCHITECTURES=all-major, or take the bundle ("),
      cuda::check(cudaErrorNoKernelImageForDevice, "add"));
}

TEST(CudaDevices, OneThatCannotBeUsedDoesNotKeepTheOthersFromWork) {
  const cuda_on_cpu::Machine before = cuda_on_cpu::machine();
  cuda_on_cpu::machine().gpus = 2;
  cuda_on_cpu::machine().taken = {0};
  const Devices devices{DeviceConfig{}};
  EXPECT_EQ(devices.default_device(), (DeviceId{DeviceId::Kind::gpu, 1, {}}));
  const Devices named(support::gpu_devices({{}}));
  EXPECT_ERROR(testing::StartsWith("GPU 0 (CUDA on the CPU) cannot be used: "), named.default_device());
  cuda_on_cpu::machine().gpus = 1;
  const Devices none{DeviceConfig{}};
  EXPECT_EQ(none.default_device(), cpu);
  cuda_on_cpu::machine() = before;

  EXPECT_THAT(devices.ids(), testing::ElementsAre(DeviceId{DeviceId::Kind::gpu, 1, {}}, cpu));
  EXPECT_FALSE(devices.absence(DeviceId::Kind::gpu));
  EXPECT_THAT(devices.unusable(DeviceId::Kind::gpu),
              testing::ElementsAre(
                  testing::Field(&DeviceFault::reason, testing::StartsWith("GPU 0 (CUDA on the CPU) cannot be used"))));
  EXPECT_THAT(none.ids(), testing::ElementsAre(cpu));
  EXPECT_THAT(to_string(none.absence(DeviceId::Kind::gpu)), testing::StartsWith("GPU 0 (CUDA on the CPU) cannot"));
}

}  // namespace
}  // namespace gpubench::usable_gpus_test
