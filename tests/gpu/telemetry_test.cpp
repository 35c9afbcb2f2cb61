// What sensors and traces say of a GPU whose load is known: one matrix product after the other, or nothing at all.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/device/device.h"
#include "core/ops/matmul.h"
#include "core/telemetry/cupti/activity_tracer.h"
#include "core/telemetry/nvml/gpu_probe.h"
#include "core/telemetry/sampler.h"
#include "core/trace/breakdown.h"
#include "tests/core/trace/spans.h"
#include "tests/support/case_checks.h"

namespace gpubench {
namespace {

/// 137 GFLOP a product: from 0.2 ms on the fastest GPU, so that gaps of microseconds between kernels count for little.
constexpr std::int64_t width = 4096;
constexpr std::size_t capacity = 100'000;  // spans

class Load {
 public:
  explicit Load(const support::Place& place) : device_(*place.device) {
    device_.bind_to_thread();
    const std::array inputs{type_, type_};
    const std::array outputs{type_};
    kernel_ = place.backend->plan(Matmul(), {inputs, outputs}, device_);
    for (std::optional<Buffer>& buffer : buffers_) buffer.emplace(device_.memory().allocate(type_.bytes(), "load"));
    workspace_.emplace(device_.memory().allocate(std::max<std::size_t>(kernel_->workspace_bytes(), 1), "workspace"));
    // Numbers as of 1 to 2, of either sign: zeros would need less power.
    std::vector<std::uint16_t> numbers(type_.bytes() / sizeof(std::uint16_t));
    std::minstd_rand random;
    for (std::uint16_t& number : numbers) number = static_cast<std::uint16_t>(0x3F80U | (random() & 0x807FU));
    for (std::optional<Buffer>& buffer : buffers_) {
      device_.stream().copy(buffer->data(), numbers.data(), type_.bytes());
      device_.stream().synchronize();
    }
    queue(3);
    device_.stream().synchronize();
  }

  void queue(int products) {
    const std::array inputs{view(0), view(1)};
    const std::array outputs{view(2)};
    for (int i = 0; i < products; ++i) {
      kernel_->run(device_.stream(), inputs, outputs, {workspace_->data(), kernel_->workspace_bytes()});
    }
  }

  void run_for(Seconds time) {
    const Stopwatch watch;
    while (watch.elapsed() < time) {
      queue(20);
      device_.stream().synchronize();
    }
  }

  Device& device() { return device_; }

 private:
  TensorView view(std::size_t index) const { return {&type_, buffers_[index]->data()}; }

  const TensorType type_{{width, width}, Dtype::bf16};
  Device& device_;
  std::unique_ptr<Kernel> kernel_;
  std::array<std::optional<Buffer>, 3> buffers_;
  std::optional<Buffer> workspace_;
};

class TelemetryTest : public testing::Test {
 protected:
  /// A GPU without the driver's own library is none whose load can be known.
  void SetUp() override {
    if (support::places().empty()) GTEST_SKIP() << support::why_no_place();
    access_ = open_nvml();
    if (!access_.nvml) GTEST_SKIP() << access_.reason;
  }
  static const support::Place& place() { return support::places().front(); }
  NvmlAccess access_;
};

class TraceTest : public TelemetryTest {
 protected:
  void SetUp() override {
    TelemetryTest::SetUp();
    if (IsSkipped()) return;
    try {
      tracer_ = std::make_unique<ActivityTracer>();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    load_ = std::make_unique<Load>(place());
  }
  /// The spans of what `work` did, until the device was idle.
  template <class Work>
  Window trace(const Work& work) {
    tracer_->start();
    load_->queue(3);  // the first launches pay for the tracer's instructions
    load_->device().stream().synchronize();
    const Clock::time_point begin = Clock::now();
    work();
    load_->device().stream().synchronize();
    const Clock::time_point end = Clock::now();
    EXPECT_EQ(tracer_->stop(timeline_), 0U) << "records were lost";
    EXPECT_EQ(timeline_.dropped(), 0U);
    return {begin, end};
  }

  std::unique_ptr<ActivityTracer> tracer_;
  std::unique_ptr<Load> load_;
  Timeline timeline_{capacity};
};

TEST_F(TraceTest, KernelTimesAgreeWithEvents) {
  constexpr int products = 50;
  const std::unique_ptr<Event> first = load_->device().new_timed_event(), last = load_->device().new_timed_event();
  const Window window = trace([&] {
    load_->device().stream().record(*first);
    load_->queue(products);
    load_->device().stream().record(*last);
  });
  const auto kernels = std::ranges::count(timeline_.spans(), SpanClass::compute, &Span::span_class);
  EXPECT_GE(kernels, products);
  const Seconds traced =
      support::break_down(timeline_.spans(), window).charged[static_cast<std::size_t>(SpanClass::compute)];
  const double share = traced / last->since(*first);
  RecordProperty("traced_over_events", std::to_string(share));
  EXPECT_THAT(share, testing::AllOf(testing::Gt(0.9), testing::Lt(1.02)))
      << "kernels take " << traced.count() << " s by CUPTI, " << last->since(*first).count() << " s between events";
}

TEST_F(TraceTest, DeviceBusyIsNearOneUnderLoadAndNearZeroWithout) {
  const Window busy = trace([&] { load_->queue(200); });
  EXPECT_GT(support::break_down(timeline_.spans(), busy).device_busy(), 0.9);
  timeline_.clear();
  const Window idle = trace([&] {
    load_->queue(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the device is to have nothing to do
  });
  EXPECT_LT(support::break_down(timeline_.spans(), idle).device_busy(), 0.1);
}

class SensorTest : public TelemetryTest {
 protected:
  std::unique_ptr<Sampler> new_sampler() const {
    std::vector<std::unique_ptr<Probe>> probes;
    probes.push_back(std::make_unique<GpuProbe>(GpuSensors(access_.nvml, place().device->bus_id())));
    return std::make_unique<Sampler>(std::move(probes));
  }
};

// Power is read as the mean of the driver's last second on some GPUs, so both states last before they are read.
TEST_F(SensorTest, PowerAndEnergyFollowTheLoad) {
  constexpr Seconds settling{1.2}, measuring{3.0};
  constexpr double energy_tolerance = 0.15;  // counter and readings are refreshed every 20 to 100 ms
  Load load(place());
  const std::unique_ptr<Sampler> sampler = new_sampler();

  std::this_thread::sleep_for(settling);
  sampler->begin();
  std::this_thread::sleep_for(measuring);
  sampler->end();
  const double idle_w = sampler->readings()[0].mean("power_w");

  load.run_for(settling);
  sampler->begin();
  load.run_for(measuring);
  sampler->end();
  const Readings& readings = sampler->readings()[0];
  const double load_w = readings.mean("power_w");
  if (std::isnan(load_w)) GTEST_SKIP() << "this GPU tells no power";
  EXPECT_GT(load_w, 1.15 * idle_w) << "watts under load, against those without";
  EXPECT_GT(readings.lowest("sm_clock_hz"), 100e6);
  EXPECT_GT(readings.mean_of_intervals("nvml_active_share"), 0.9);
  if (readings.has("sm_share") && !std::isnan(readings.mean_of_intervals("sm_share"))) {
    EXPECT_GT(readings.mean_of_intervals("sm_share"), 0.5);
  }
  const double energy_j = readings.total("energy_j"), expected_j = load_w * readings.duration().count();
  if (std::isnan(energy_j)) GTEST_SKIP() << "this GPU has no energy counter; its power was checked";
  EXPECT_NEAR(energy_j, expected_j, energy_tolerance * expected_j) << "joules by the counter, against power over time";
}

}  // namespace
}  // namespace gpubench
