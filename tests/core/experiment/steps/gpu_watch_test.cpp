#include "core/experiment/steps/gpu_watch.h"

#include <array>
#include <atomic>
#include <gmock/gmock.h>

#include "tests/core/experiment/declared.h"
#include "tests/core/telemetry/nvml/fake_nvml.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using namespace std::chrono_literals;

// The watch's own thread reads no sensor between the beginning and the end.
class StillTicker final : public Ticker {
 public:
  Clock::time_point now() const override { return Clock::time_point(Clock::duration(passed_)); }
  bool wait_until(Clock::time_point, const std::stop_token&) override { return false; }
  void advance(Clock::duration time) { passed_ += time.count(); }

 private:
  std::atomic<Clock::rep> passed_ = 0;
};

class GpuWatchTest : public ::testing::Test {
 protected:
  std::unique_ptr<GpuWatch> watch(const std::vector<WatchedGpu>& gpus) {
    return std::make_unique<GpuWatch>(gpus, NvmlAccess{fake_.open(), ""}, SamplerOptions{}, ticker_);
  }
  std::unique_ptr<GpuWatch> watch() { return watch({{"gpu:0", fake_.bus_id}}); }
  /// `time` of work that draws `joules`.
  void work(GpuWatch& watch, Clock::duration time, unsigned joules) {
    watch.begin();
    ticker_->advance(time);
    fake_.energy_mj += joules * 1000;
    watch.end();
  }
  static Record record_of(const GpuWatch& watch, double examples = 100) {
    Record record;
    watch.describe(record, examples);
    return record;
  }

  support::FakeNvml fake_;
  std::shared_ptr<StillTicker> ticker_ = std::make_shared<StillTicker>();
};

TEST_F(GpuWatchTest, FillsDescribedColumns) {
  const auto watch = this->watch();
  fake_.throttle_reasons = 0x04;
  work(*watch, 2s, 1000);
  const Record record = record_of(*watch);
  EXPECT_DOUBLE_EQ(number(record, "power_w"), 500);
  EXPECT_DOUBLE_EQ(number(record, "energy_j_per_example"), 10);
  EXPECT_DOUBLE_EQ(number(record, "sm_clock_hz"), 1.755e9);
  EXPECT_DOUBLE_EQ(number(record, "memory_clock_hz"), 2.619e9);
  EXPECT_EQ(number(record, "temperature_c"), 61);
  EXPECT_EQ(std::get<std::string>(record.get("throttle")), "power limit");
  EXPECT_DOUBLE_EQ(number(record, "nvml_active_share"), 0.97);
  EXPECT_DOUBLE_EQ(number(record, "sm_share"), 0.8);
  EXPECT_DOUBLE_EQ(number(record, "tensor_share"), 0.45);
  EXPECT_DOUBLE_EQ(number(record, "dram_share"), 0.3);
  EXPECT_EQ(number(record, "telemetry_share"), 0);
  EXPECT_EQ(record.cells().size(), 11U);
  expect_declared(record, "gpus");
  EXPECT_FALSE(watch->doubt()) << "at its power limit a GPU does what it is built for";
}

TEST_F(GpuWatchTest, OfASliceNothingIsFilledThatBelongsToTheWholeGpu) {
  const auto watch = this->watch({{"gpu:0", fake_.bus_id, true}});
  fake_.processes = {{17, 3ULL << 30, 1, 0}};
  fake_.throttle_reasons = 0x04;
  work(*watch, 2s, 1000);
  const Record record = record_of(*watch);
  for (const char* const column :
       {"power_w", "energy_j_per_example", "nvml_active_share", "sm_share", "tensor_share", "dram_share"}) {
    EXPECT_FALSE(record.has(column)) << column;
  }
  EXPECT_DOUBLE_EQ(number(record, "sm_clock_hz"), 1.755e9);
  EXPECT_EQ(number(record, "temperature_c"), 61);
  EXPECT_FALSE(watch->doubt()) << "the other process has a slice of its own";
}

TEST_F(GpuWatchTest, OverAShortTimePowerReadingsAreBetterThanTheEnergyCounter) {
  const auto watch = this->watch();
  work(*watch, 500ms, 1);
  EXPECT_DOUBLE_EQ(number(record_of(*watch), "power_w"), 512.3);
  EXPECT_DOUBLE_EQ(number(record_of(*watch), "energy_j_per_example"), 512.3 * 0.5 / 100);
}

TEST_F(GpuWatchTest, WithoutAnEnergyCounterPowerIsIntegrated) {
  fake_.unsupported = {"energy"};
  const auto watch = this->watch();
  watch->begin();
  ticker_->advance(4s);
  fake_.power_mw = 712300;
  watch->end();
  EXPECT_DOUBLE_EQ(number(record_of(*watch), "power_w"), 612.3);
}

TEST_F(GpuWatchTest, WhatIsNotMeasuredStaysEmpty) {
  for (const auto& [reading, columns] :
       {std::pair<std::string, std::vector<std::string>>{"clock", {"sm_clock_hz", "memory_clock_hz"}},
        {"temperature", {"temperature_c"}},
        {"utilization", {"nvml_active_share"}},
        {"throttle_reasons", {"throttle"}},
        {"gpm_support", {"sm_share", "tensor_share", "dram_share"}}}) {
    fake_.unsupported = {reading};
    const auto watch = this->watch();
    work(*watch, 2s, 1000);
    for (const std::string& column : columns) EXPECT_FALSE(record_of(*watch).has(column)) << column;
    EXPECT_TRUE(record_of(*watch).has("power_w"));
  }
  fake_.unsupported = {"power", "energy"};
  const auto watch = this->watch();
  work(*watch, 2s, 1000);
  EXPECT_FALSE(record_of(*watch).has("power_w"));
  EXPECT_FALSE(record_of(*watch).has("energy_j_per_example"));
}

TEST_F(GpuWatchTest, SeveralGpusAddUp) {
  const auto watch = this->watch({{"gpu:0", fake_.bus_id}, {"gpu:1", fake_.bus_id}});
  work(*watch, 2s, 1000);
  const Record record = record_of(*watch);
  EXPECT_DOUBLE_EQ(number(record, "power_w"), 1000);
  EXPECT_DOUBLE_EQ(number(record, "sm_share"), 0.8);
  EXPECT_DOUBLE_EQ(number(record, "sm_clock_hz"), 1.755e9);
}

TEST_F(GpuWatchTest, ASlowedDownGpuIsInDoubt) {
  const auto watch = this->watch();
  watch->begin();
  fake_.throttle_reasons = 0x84;
  watch->end();
  EXPECT_EQ(watch->doubt().text, "gpu:0 was slowed down: power brake");
  EXPECT_EQ(watch->doubt().kind, DoubtKind::slow_gpu);
  EXPECT_EQ(std::get<std::string>(record_of(*watch).get("throttle")), "power limit, power brake");
  fake_.throttle_reasons = 0;
  work(*watch, 1s, 1);
  EXPECT_FALSE(watch->doubt());
}

TEST_F(GpuWatchTest, ASharedGpuIsInDoubtWhoeverCameWhen) {
  // Process 1 is always there; another that nobody can see is taken for ourselves.
  const auto watch = this->watch();
  fake_.processes = {{1, 1024, 0, 0}};
  watch->begin();
  fake_.processes = {};
  watch->end();
  EXPECT_THAT(watch->doubt().text, StartsWith("gpu:0 is shared with "));
  EXPECT_EQ(watch->doubt().kind, DoubtKind::shared_gpu);
  EXPECT_THAT(watch->doubt().text, HasSubstr("(process 1, 1 KiB)"));
  fake_.processes = {};
  watch->begin();
  fake_.processes = {{1, 1024, 0, 0}};
  watch->end();
  EXPECT_THAT(watch->doubt().text, HasSubstr("(process 1, 1 KiB)"));
  EXPECT_EQ(watch->doubt().text.find("process 1"), watch->doubt().text.rfind("process 1"));
}

TEST_F(GpuWatchTest, WithoutGpusOrNvmlThereIsNothingToSay) {
  GpuWatch no_gpus({}, {nullptr, "no driver"});
  const std::array gpus = {WatchedGpu{"gpu:0", fake_.bus_id}};
  GpuWatch no_nvml(gpus, {nullptr, "no driver"});
  const auto unknown = watch({{"gpu:0", "00000000:99:00.0"}});
  for (GpuWatch* watch : {&no_gpus, &no_nvml, unknown.get()}) {
    watch->begin();
    watch->end();
    EXPECT_THAT(record_of(*watch).cells(), IsEmpty());
    EXPECT_FALSE(watch->doubt());
  }
}

}  // namespace
}  // namespace gpubench
