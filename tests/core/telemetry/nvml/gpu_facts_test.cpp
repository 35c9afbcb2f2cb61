#include "core/telemetry/nvml/gpu_facts.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "core/telemetry/nvml/neighbours.h"
#include "tests/core/telemetry/nvml/fake_nvml.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class GpuFactsTest : public TemporaryFolder {
 protected:
  void show_process_17() const {
    std::filesystem::create_directory(file("17"));
    write("17/comm", "python3\n");
  }
  GpuSensors sensors() const { return {fake_.open(), fake_.bus_id}; }
  GpuFacts facts() const { return gpu_facts(sensors(), slice_); }
  std::string fact(const std::string& label) const {
    for (const auto& [name, text] : facts()) {
      if (name == label) return text;
    }
    return "(absent)";
  }

  support::FakeNvml fake_;
  std::optional<DeviceSlice> slice_;
};

TEST_F(GpuFactsTest, AreInWords) {
  EXPECT_THAT(facts(), ElementsAre(Pair("name", "NVIDIA H200"), Pair("uuid", "GPU-1b"), Pair("driver", "580.65.06"),
                                   Pair("memory", "150 GiB, 100 GiB free"),
                                   Pair("peaks",
                                        "float32 67 TFLOP/s, tf32 495 TFLOP/s, float16 989 TFLOP/s, bfloat16 989 "
                                        "TFLOP/s, float8 1.98 PFLOP/s, int8 1.98 POP/s, memory 4.92 TB/s"),
                                   Pair("clocks", "multiprocessors 1755 of 1980 MHz, memory 2619 of 3201 MHz"),
                                   Pair("temperature", "61 °C"), Pair("power", "512 of 700 W"),
                                   Pair("link", "PCIe generation 4, 16 lanes (at most generation 5, 16 lanes)"),
                                   Pair("ecc", "on, 0 uncorrected errors"), Pair("mig", "off")));
}

TEST_F(GpuFactsTest, TellWhatIsUnusual) {
  fake_.mig = 1;
  fake_.ecc = 0;
  fake_.pcie_generation = 5;
  EXPECT_EQ(fact("mig"), "on: the GPU is split into instances");
  EXPECT_EQ(fact("ecc"), "off");
  EXPECT_EQ(fact("link"), "PCIe generation 5, 16 lanes");
  fake_.ecc = 1;
  fake_.ecc_errors = 1;
  EXPECT_EQ(fact("ecc"), "on, 1 uncorrected error");
}

TEST_F(GpuFactsTest, OfASliceAreItsOwn) {
  slice_ = DeviceSlice{"1g.18gb", 16, std::size_t{18} << 30};
  EXPECT_EQ(fact("mig"), "slice 1g.18gb, 16 of 132 multiprocessors");
  EXPECT_EQ(fact("memory"), "18 GiB");
  EXPECT_EQ(
      fact("peaks"),
      "float32 8.12 TFLOP/s, tf32 60 TFLOP/s, float16 120 TFLOP/s, bfloat16 120 TFLOP/s, float8 240 TFLOP/s, int8 "
      "240 TOP/s");
  EXPECT_EQ(fact("name"), "NVIDIA H200");
}

TEST_F(GpuFactsTest, WhatIsNotSupportedIsAbsent) {
  for (const auto& [reading, label] :
       {std::pair{"memory", "memory"}, std::pair{"clock", "clocks"}, std::pair{"temperature", "temperature"},
        std::pair{"power", "power"}, std::pair{"pcie_generation", "link"}, std::pair{"pcie_width", "link"},
        std::pair{"ecc_mode", "ecc"}, std::pair{"mig_mode", "mig"}, std::pair{"name", "name"},
        std::pair{"uuid", "uuid"}}) {
    fake_.unsupported = {reading};
    EXPECT_EQ(fact(label), "(absent)") << reading;
  }
  fake_.unsupported = {"memory_bus_width", "name"};
  EXPECT_EQ(fact("peaks"), "(absent)");
  fake_.unsupported = {"max_clock", "power_limit", "ecc_errors", "max_pcie_width"};
  EXPECT_EQ(fact("clocks"), "multiprocessors 1755 of ? MHz, memory 2619 of ? MHz");
  EXPECT_EQ(fact("power"), "512 W");
  EXPECT_EQ(fact("ecc"), "on");
  EXPECT_EQ(fact("link"), "PCIe generation 4, 16 lanes");
}

TEST_F(GpuFactsTest, WithoutADriverTheReasonIsTheFact) {
  EXPECT_THAT(gpu_facts({nullptr, "libnvidia-ml.so.1 cannot be opened: no such file"}, fake_.bus_id, {}),
              ElementsAre(Pair("telemetry", "none: libnvidia-ml.so.1 cannot be opened: no such file")));
  EXPECT_THAT(gpu_facts({fake_.open(), ""}, "0000:99:00.0", {}),
              ElementsAre(Pair("telemetry", "none: NVML: the driver shows no GPU at 00000000:99:00.0: Not Found")));
  EXPECT_EQ(gpu_facts({fake_.open(), ""}, "1b:00.0", {}).front().second, "NVIDIA H200");
}

TEST_F(GpuFactsTest, NeighboursAreAllButOurselves) {
  show_process_17();
  fake_.processes = {{42, 1, 0, 0}, {17, 3ULL << 29, 0, 0}, {99, ~0ULL, 0, 0}};
  const auto found = neighbours(sensors().processes().value(), 42, file(""));
  EXPECT_EQ(to_string(found), "python3 (process 17, 1.5 GiB), unknown (process 99)");
}

TEST_F(GpuFactsTest, AnUnseenProcessIsOurselvesWhereOurNumberIsMissing) {
  show_process_17();
  fake_.processes = {{17, 1024, 0, 0}, {4321, 1024, 0, 0}};
  EXPECT_EQ(to_string(neighbours(sensors().processes().value(), 42, file(""))), "python3 (process 17, 1 KiB)");
  EXPECT_EQ(to_string(neighbours(sensors().processes().value(), 17, file(""))), "unknown (process 4321, 1 KiB)");
}

TEST_F(GpuFactsTest, ManyProcessesAreAllListed) {
  for (unsigned pid = 1; pid <= 100; ++pid) fake_.processes.push_back({pid, 0, 0, 0});
  EXPECT_EQ(sensors().processes().value().size(), 100U);
  fake_.unsupported = {"compute_processes"};
  EXPECT_FALSE(sensors().processes());
}

TEST_F(GpuFactsTest, OurOwnProcessIsNoNeighbour) {
  fake_.processes = {{static_cast<unsigned>(::getpid()), 1024, 0, 0}};
  EXPECT_TRUE(neighbours_on(sensors()).empty());
}

}  // namespace
}  // namespace gpubench
