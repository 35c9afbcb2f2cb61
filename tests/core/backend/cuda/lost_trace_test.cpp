// A GPU that is lost while its steps are traced: CUPTI then fails with errors that do not say so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/device/device.h"
#include "core/experiment/steps/trace_phase.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::HasSubstr;

class NoSteps final : public StepSource {
 public:
  void step() override {}
  std::int64_t examples() const override { return 1; }
  Clock::time_point fetched() const override { return Clock::now(); }
};

class FailingTracer final : public Tracer {
 public:
  explicit FailingTracer(bool loses) : loses_(loses) {}
  void start() override {}
  std::size_t stop(Timeline&) override {
    if (loses_) cuda_on_cpu::fail_after(0, cudaErrorIllegalAddress, 0);
    throw DeviceError("CUPTI", "cuptiActivityFlushAll", "CUPTI_ERROR_NOT_INITIALIZED");
  }

 private:
  bool loses_;
};

void trace(bool loses) {
  Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  devices.device({DeviceId::Kind::gpu, 0, {}}).stream().synchronize();  // the GPU is in use
  NoSteps steps;
  TracePhase phase({.new_tracer = [&](const Devices&) { return std::make_unique<FailingTracer>(loses); }},
                   Seconds(0.01), false);
  phase.run(steps, runtime, nullptr);
}

TEST(LostTrace, SaysThatTheGpuIsLostAndWhy) {
  EXPECT_ERROR_OF(DeviceLost,
                  HasSubstr("tracing: a step failed: CUDA: cudaStreamSynchronize failed: an illegal "
                            "memory access was encountered (cudaErrorIllegalAddress)"),
                  trace(true));
  cuda_on_cpu::mend();
}

TEST(LostTrace, OtherErrorsOfATracerStay) {
  EXPECT_ERROR_OF(DeviceError, HasSubstr("CUPTI: cuptiActivityFlushAll failed"), trace(false));
}

}  // namespace
}  // namespace gpubench
