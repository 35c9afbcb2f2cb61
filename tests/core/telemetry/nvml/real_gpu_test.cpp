// What only a machine with a GPU can tell: that NVML's layouts are as functions.h declares them.
#include <array>
#include <cmath>
#include <gmock/gmock.h>
#include <iostream>

#include "core/telemetry/nvml/gpu_facts.h"
#include "core/telemetry/nvml/gpu_probe.h"
#include "core/telemetry/sampler.h"

namespace gpubench {
namespace {

// nvmlPciInfo_t.
struct PciInfo {
  std::array<char, 16> legacy_bus_id;
  std::array<unsigned, 5> numbers;
  std::array<char, 32> bus_id;
};

// Of the first GPU, while NVML is open; empty where there is none.
std::string first_bus_id() {
  const std::array<std::string_view, 1> names = {"libnvidia-ml.so.1"};
  const SharedLibrary library(names, {});
  NvmlReturn (*by_index)(unsigned, NvmlDevice*) = nullptr;
  NvmlReturn (*pci_info)(NvmlDevice, PciInfo*) = nullptr;
  library.bind(by_index, "nvmlDeviceGetHandleByIndex_v2");
  library.bind(pci_info, "nvmlDeviceGetPciInfo_v3");
  NvmlDevice device = nullptr;
  PciInfo info{};
  if (by_index(0, &device) != nvml_success || pci_info(device, &info) != nvml_success) return {};
  return info.bus_id.data();
}

class RealGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    access_ = open_nvml();
    if (!access_.nvml) GTEST_SKIP() << "no GPU: " << access_.reason;
    bus_id_ = first_bus_id();
    if (bus_id_.empty()) GTEST_SKIP() << "NVML shows no GPU";
  }
  NvmlAccess access_;
  std::string bus_id_;
};

TEST_F(RealGpu, FactsArePlausible) {
  const GpuFacts facts = gpu_facts(access_, bus_id_, {});
  ASSERT_FALSE(facts.empty());
  EXPECT_EQ(facts.front().first, "name");
  for (const auto& [label, text] : facts) std::cout << label << ": " << text << "\n";
  const GpuSensors sensors(access_.nvml, bus_id_);
  ASSERT_TRUE(sensors.memory());
  EXPECT_GT(sensors.memory()->total, 1ULL << 30);
  EXPECT_LE(sensors.memory()->free, sensors.memory()->total);
  for (const GpuProcess& process : sensors.processes().value()) EXPECT_LE(process.memory_bytes.value_or(0), 1ULL << 40);
}

TEST_F(RealGpu, ReadingsArePlausible) {
  std::vector<std::unique_ptr<Probe>> probes;
  probes.push_back(std::make_unique<GpuProbe>(GpuSensors(access_.nvml, bus_id_)));
  Sampler sampler(std::move(probes));
  sampler.begin();
  const Stopwatch watch;
  while (watch.elapsed() < Seconds(0.3)) {  // hardware counts over real time
  }
  sampler.end();
  const Readings& readings = sampler.readings()[0];
  const auto within = [&](const char* column, double low, double high) {
    if (const double value = readings.highest(column); !std::isnan(value)) {
      EXPECT_GE(value, low) << column;
      EXPECT_LE(value, high) << column;
    }
  };
  within("power_w", 1, 3000);
  within("temperature_c", 5, 120);
  within("sm_clock_hz", 50e6, 5e9);
  within("memory_clock_hz", 50e6, 20e9);
  for (const char* share : {"nvml_active_share", "sm_share", "tensor_share", "dram_share"}) within(share, 0, 1.01);
  EXPECT_LT(sampler.cost_share(), 0.5);
}

}  // namespace
}  // namespace gpubench
