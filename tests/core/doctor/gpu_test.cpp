// Faults of a GPU, injected into the simulated driver and the files of the PCI bus.
#include <gmock/gmock.h>
#include <unistd.h>

#include "core/nvidia/gpu_slice.h"
#include "tests/core/doctor/fake_machine.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using DoctorOfGpu = DoctorTest;

TEST_F(DoctorOfGpu, OtherProcessesShareIt) {
  put("proc/17/comm", "python3\n");
  nvml_.processes = {{static_cast<unsigned>(::getpid()), 1U << 20, 0, 0}, {17, 3ULL << 30, 0, 0}};
  EXPECT_EQ(state_of("gpu_sharing"), "costs speed: used by python3 (process 17, 3 GiB)");
  EXPECT_THAT(result("gpu_sharing").remedy, HasSubstr("CUDA_VISIBLE_DEVICES"));
  nvml_.processes.pop_back();
  EXPECT_EQ(state_of("gpu_sharing"), "ok: no other process, 149 GiB free");
}

TEST_F(DoctorOfGpu, MemoryThatNoProcessAccountsFor) {
  nvml_.memory_used = 60ULL << 30;
  EXPECT_EQ(state_of("gpu_sharing"), "costs speed: 60 GiB of 150 GiB are taken by processes that this one cannot see");
  nvml_.processes = {{static_cast<unsigned>(::getpid()), 59ULL << 30, 0, 0}};
  EXPECT_THAT(state_of("gpu_sharing"), StartsWith("ok: ")) << "they are our own";
  nvml_.unsupported = {"memory"};
  EXPECT_EQ(state_of("gpu_sharing"), "ok: no other process");
}

TEST_F(DoctorOfGpu, Throttling) {
  nvml_.throttle_reasons = 0x40 | 0x4;
  nvml_.temperature_c = 92;
  EXPECT_EQ(state_of("gpu_throttling"), "costs speed: hardware thermal slowdown, 92 °C");
  nvml_.throttle_reasons = 0x4;
  EXPECT_EQ(state_of("gpu_throttling"), "ok: none, 92 °C") << "the power limit is normal operation";
  nvml_.throttle_reasons = 0x80;
  nvml_.unsupported = {"temperature"};
  EXPECT_EQ(state_of("gpu_throttling"), "costs speed: power brake");
}

TEST_F(DoctorOfGpu, Clocks) {
  nvml_.sm_clock_mhz = 1200;
  EXPECT_EQ(state_of("gpu_clocks"), "costs speed: multiprocessors at 1200 of 1980 MHz");
  nvml_.throttle_reasons = 0x2;
  EXPECT_EQ(state_of("gpu_clocks"), "costs speed: multiprocessors at 1200 of 1980 MHz, as somebody has set them");
  EXPECT_THAT(result("gpu_clocks").remedy, HasSubstr("--reset-gpu-clocks"));
  nvml_.throttle_reasons = 0x1;
  EXPECT_EQ(state_of("gpu_clocks"), "ok: idle; at most 1980 MHz under load");
  nvml_.throttle_reasons = 0x4;
  EXPECT_THAT(state_of("gpu_clocks"), StartsWith("ok: multiprocessors at 1200 of 1980 MHz, at the power limit"));
  nvml_.power_limit_mw = 400000;
  EXPECT_EQ(state_of("gpu_clocks"), "costs speed: the power limit is 400 of 700 W");
}

TEST_F(DoctorOfGpu, PersistenceAndMig) {
  nvml_.persistence = 0;
  EXPECT_THAT(state_of("gpu_persistence"), StartsWith("costs speed: off"));
  nvml_.mig = 1;
  EXPECT_THAT(state_of("gpu_mig"), StartsWith("costs speed: on"));
  nvml_.unsupported = {"mig_mode"};
  EXPECT_EQ(state_of("gpu_mig"), "ok: off") << "older GPUs have no MIG";
}

TEST(GpuSlice, IsTakenFromTheNameOfTheDevice) {
  const auto slice = slice_of("NVIDIA A100-SXM4-40GB MIG 3g.20gb", 42, std::size_t{20} << 30);
  ASSERT_TRUE(slice);
  EXPECT_EQ(slice->profile, "3g.20gb");
  EXPECT_EQ(slice->compute_units, 42);
  EXPECT_FALSE(slice_of("NVIDIA A100-SXM4-40GB", 108, 0));
}

TEST_F(DoctorOfGpu, ASliceIsDescribedAsSuch) {
  nvml_.mig = 1;
  nvml_.processes = {{17, 3ULL << 30, 1, 0}};
  sources_.gpus[0].slice = slice_of("NVIDIA H200 MIG 1g.18gb", 16, std::size_t{18} << 30);
  const CheckResult mig = result("gpu_mig");
  EXPECT_EQ(mig.state, CheckState::costs_speed);
  EXPECT_EQ(mig.found, "this process has the slice 1g.18gb: 18 GiB of memory, 16 of 132 multiprocessors");
  EXPECT_EQ(
      mig.consequence,
      "its rates are not those of the GPU, and power and counters, which belong to the whole GPU, are not measured");
  EXPECT_EQ(mig.remedy,
            "compare it with slices of its kind only; switch MIG off if one program shall have all: nvidia-smi -mig 0, "
            "as root");
  EXPECT_EQ(state_of("gpu_sharing"),
            "unknown: the driver reports processes and memory of the whole GPU, not of the slice");
}

TEST_F(DoctorOfGpu, FewerLanesThanTheCardHas) {
  nvml_.pcie_width = 4;
  EXPECT_EQ(state_of("gpu_link"), "costs speed: generation 5, 4 lanes, and the card has 16 lanes");
  EXPECT_EQ(result("gpu_link").consequence, "copies between host and GPU take 4 times as long");
  nvml_.max_pcie_width = 4;
  EXPECT_THAT(state_of("gpu_link"), StartsWith("costs speed: ")) << "the slot has 4, the card 16";
  remove("sys/bus/pci/devices/0000:1b:00.0/max_link_width");
  EXPECT_EQ(state_of("gpu_link"), "ok: generation 5, 4 lanes") << "nothing tells of more";
}

TEST_F(DoctorOfGpu, AnIdleLinkIsOfALowGeneration) {
  nvml_.pcie_generation = 1;
  EXPECT_EQ(state_of("gpu_link"), "costs speed: generation 1, 16 lanes, and generation 5 is possible");
  nvml_.throttle_reasons = 0x1;
  EXPECT_EQ(state_of("gpu_link"), "ok: generation 5, 16 lanes");
}

TEST_F(DoctorOfGpu, FarProcessors) {
  put("sys/bus/pci/devices/0000:1b:00.0/local_cpulist", "32-63,96\n");
  put("sys/bus/pci/devices/0000:1b:00.0/numa_node", "1\n");
  EXPECT_EQ(state_of("gpu_numa"), "costs speed: this process runs on processors 0-3, the GPU is near 32-63,96");
  EXPECT_EQ(result("gpu_numa").remedy, "numactl --cpunodebind=1 --membind=1 gpubench ...");
  sources_.processors = {3, 40};
  EXPECT_EQ(state_of("gpu_numa"), "ok: near processors 32-63,96");
}

TEST_F(DoctorOfGpu, MemoryErrors) {
  nvml_.ecc_errors = 2;
  EXPECT_EQ(state_of("gpu_errors"), "wrong: 2 uncorrected since the driver was loaded");
  nvml_.ecc = 0;
  EXPECT_EQ(state_of("gpu_errors"), "ok: ECC is off");
  nvml_.unsupported = {"ecc_mode"};
  EXPECT_EQ(state_of("gpu_errors"), "ok: this GPU counts no memory errors");
}

}  // namespace
}  // namespace gpubench
