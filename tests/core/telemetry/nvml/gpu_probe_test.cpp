#include "core/telemetry/nvml/gpu_probe.h"

#include <array>
#include <cmath>
#include <gmock/gmock.h>
#include <map>

#include "tests/core/telemetry/nvml/fake_nvml.h"

namespace gpubench {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsNan;
using ::testing::UnorderedElementsAreArray;
using namespace std::chrono_literals;

class GpuProbeTest : public ::testing::Test {
 protected:
  std::unique_ptr<GpuProbe> probe() {
    return std::make_unique<GpuProbe>(GpuSensors(fake_.open(), fake_.bus_id), [this] { return now_; });
  }
  static std::map<std::string, double> read(GpuProbe& probe) {
    std::array<double, 10> values{};
    EXPECT_EQ(probe.columns().size(), values.size());
    probe.read(values);
    std::map<std::string, double> readings;
    for (std::size_t i = 0; i < values.size(); ++i) readings.emplace(probe.columns()[i], values[i]);
    return readings;
  }
  std::vector<std::string> unknown_after(std::set<std::string> unsupported) {
    fake_.unsupported = std::move(unsupported);
    const auto probe = this->probe();
    now_ += 1s;
    std::vector<std::string> names;
    for (const auto& [name, value] : read(*probe)) {
      if (std::isnan(value)) names.push_back(name);
    }
    return names;
  }

  support::FakeNvml fake_;
  Clock::time_point now_{};
};

TEST_F(GpuProbeTest, ReadingsAreInPlainUnits) {
  const auto probe = this->probe();
  now_ += 500ms;
  fake_.energy_mj += 256000;
  fake_.throttle_reasons = 0x44;
  auto readings = read(*probe);
  EXPECT_DOUBLE_EQ(readings["power_w"], 512.3);
  EXPECT_DOUBLE_EQ(readings["energy_j"], 256);
  EXPECT_EQ(readings["temperature_c"], 61);
  EXPECT_DOUBLE_EQ(readings["sm_clock_hz"], 1.755e9);
  EXPECT_DOUBLE_EQ(readings["memory_clock_hz"], 2.619e9);
  EXPECT_EQ(readings["throttle_bits"], 0x44);
  EXPECT_DOUBLE_EQ(readings["nvml_active_share"], 0.97);
  EXPECT_DOUBLE_EQ(readings["sm_share"], 0.8);
  EXPECT_DOUBLE_EQ(readings["tensor_share"], 0.45);
  EXPECT_DOUBLE_EQ(readings["dram_share"], 0.3);
}

TEST_F(GpuProbeTest, EnergyIsThatSinceTheLastReading) {
  const auto probe = this->probe();
  fake_.energy_mj += 1500;
  EXPECT_DOUBLE_EQ(read(*probe)["energy_j"], 1.5);
  fake_.energy_mj += 500;
  EXPECT_DOUBLE_EQ(read(*probe)["energy_j"], 0.5);
  EXPECT_DOUBLE_EQ(read(*probe)["energy_j"], 0);
}

TEST_F(GpuProbeTest, PowerIsThatOfTheMomentWhereTheDriverTells) {
  fake_.power_instant_mw = 650000;
  EXPECT_DOUBLE_EQ(read(*probe())["power_w"], 650);
  fake_.power_instant_mw = 0;
  EXPECT_DOUBLE_EQ(read(*probe())["power_w"], 512.3);
}

TEST_F(GpuProbeTest, WhatIsNotSupportedIsNotANumber) {
  EXPECT_THAT(unknown_after({}), ElementsAre());
  EXPECT_THAT(unknown_after({"power"}), ElementsAre("power_w"));
  EXPECT_THAT(unknown_after({"energy"}), ElementsAre("energy_j"));
  EXPECT_THAT(unknown_after({"temperature"}), ElementsAre("temperature_c"));
  EXPECT_THAT(unknown_after({"clock"}), ElementsAre("memory_clock_hz", "sm_clock_hz"));
  EXPECT_THAT(unknown_after({"throttle_reasons"}), ElementsAre("throttle_bits"));
  EXPECT_THAT(unknown_after({"utilization"}), ElementsAre("nvml_active_share"));
  EXPECT_THAT(unknown_after({"gpm 5"}), ElementsAre("tensor_share"));
  for (const char* missing : {"gpm_support", "gpm_allocate", "gpm_sample", "gpm_metrics"}) {
    EXPECT_THAT(unknown_after({missing}), UnorderedElementsAreArray({"sm_share", "tensor_share", "dram_share"}))
        << missing;
    EXPECT_EQ(fake_.gpm_samples_held, 0) << missing;
  }
}

TEST_F(GpuProbeTest, ADriverWithoutTheFunctionsIsReadToo) {
  NvmlFunctions functions = support::FakeNvml::functions();
  functions.energy = nullptr;
  functions.gpm_metrics = nullptr;
  functions.throttle_reasons = nullptr;
  GpuProbe probe(GpuSensors(std::make_shared<const Nvml>(functions), fake_.bus_id), [this] { return now_; });
  now_ += 1s;
  auto readings = read(probe);
  EXPECT_THAT(readings["energy_j"], IsNan());
  EXPECT_THAT(readings["sm_share"], IsNan());
  EXPECT_THAT(readings["throttle_bits"], IsNan());
  EXPECT_DOUBLE_EQ(readings["power_w"], 512.3);
}

TEST_F(GpuProbeTest, HardwareCountersNeedTimeBetweenSamples) {
  const auto probe = this->probe();
  EXPECT_EQ(fake_.gpm_samples_taken, 1);
  now_ += 99ms;
  EXPECT_THAT(read(*probe)["sm_share"], IsNan());
  EXPECT_EQ(fake_.gpm_samples_taken, 1) << "the sample at the start still counts";
  now_ += 1ms;
  EXPECT_THAT(read(*probe)["sm_share"], DoubleNear(0.8, 1e-12));
  EXPECT_EQ(fake_.gpm_samples_taken, 2);
  EXPECT_THAT(read(*probe)["sm_share"], IsNan());
}

TEST_F(GpuProbeTest, GivesItsSamplesBack) {
  {
    const auto probe = this->probe();
    EXPECT_EQ(fake_.gpm_samples_held, 2);
  }
  EXPECT_EQ(fake_.gpm_samples_held, 0);
  EXPECT_EQ(fake_.opened, 0);
}

}  // namespace
}  // namespace gpubench
