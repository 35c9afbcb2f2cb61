#include "core/experiment/steps/trace_phase.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "tests/core/experiment/declared.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

/// Waits for its input half of the time.
class HalfWaiting final : public StepSource {
 public:
  void step() override {
    begun_ = Clock::now();
    wait_until(begun_ + 50us);
    fetched_ = Clock::now();
    wait_until(fetched_ + 50us);
  }
  std::int64_t examples() const override { return 1; }
  Clock::time_point fetched() const override { return fetched_; }

 private:
  static void wait_until(Clock::time_point end) {
    while (Clock::now() < end) {
    }
  }
  Clock::time_point begun_, fetched_;
};

class Refusing final : public Tracer {
 public:
  void start() override { throw Error("nobody may trace here"); }
  std::size_t stop(Timeline&) override { return 0; }
};

/// Its device is lost in the third step.
class Losing final : public StepSource {
 public:
  void step() override {
    if (++steps_ == 3) throw DeviceLost("CUDA", "cudaEventSynchronize", "an illegal memory access was encountered");
  }
  std::int64_t examples() const override { return 1; }
  Clock::time_point fetched() const override { return Clock::now(); }

 private:
  int steps_ = 0;
};

class Counting final : public Tracer {
 public:
  explicit Counting(int& attached) : attached_(attached) {}
  ~Counting() override { --attached_; }
  void start() override { ++attached_; }
  std::size_t stop(Timeline&) override { return 0; }

 private:
  int& attached_;
};

class TracePhaseTest : public ::testing::Test {
 protected:
  Devices devices_{DeviceConfig{}};
  Runtime runtime_{devices_};
  HalfWaiting steps_;
};

TEST_F(TracePhaseTest, TheTimedStepsSayHowLongTheInputWasWaitedFor) {
  TracePhase phase({.new_tracer = &Devices::new_tracer}, Seconds(0.01), false);
  phase.run(steps_, runtime_, nullptr);
  Record record, without;
  phase.describe(record, 1e-4, 0.9);
  EXPECT_NEAR(number(record, "input_wait_share"), 0.9, 1e-4);
  EXPECT_NEAR(number(record, "host_share"), 0.1, 1e-4);
  EXPECT_NEAR(sum_of_shares(record), 1, 1e-9);
  phase.describe(without, 1e-4, {});
  EXPECT_GT(number(without, "input_wait_share"), 0);
  EXPECT_NE(number(without, "input_wait_share"), number(record, "input_wait_share"));
  EXPECT_NEAR(sum_of_shares(without), 1, 1e-9);
  EXPECT_EQ(phase.timeline(), nullptr);
  EXPECT_FALSE(phase.doubt());
}

TEST_F(TracePhaseTest, WithoutAWishThereIsNoTrace) {
  TracePhase phase({}, Seconds(0.01), false);
  phase.run(steps_, runtime_, nullptr);
  Record record;
  phase.describe(record, 1e-4, 0.5);
  EXPECT_TRUE(record.cells().empty());
  EXPECT_EQ(phase.absence(), "");
}

TEST_F(TracePhaseTest, AMissingTracerIsAnAbsenceOrAnErrorWhereItIsNeeded) {
  TraceWishes wishes{.new_tracer = [](const Devices&) { return std::make_unique<Refusing>(); }};
  TracePhase phase(wishes, Seconds(0.01), false);
  phase.run(steps_, runtime_, nullptr);
  EXPECT_EQ(phase.absence(), "nobody may trace here");
  wishes.profiles = true;
  TracePhase needed(wishes, Seconds(0.01), false);
  EXPECT_ERROR("nobody may trace here", needed.run(steps_, runtime_, nullptr));
}

TEST_F(TracePhaseTest, ADeviceThatIsLostEndsTheTraceWithNothingOfIt) {
  int attached = 0;
  const TraceWishes wishes{.new_tracer = [&](const Devices&) { return std::make_unique<Counting>(attached); },
                           .keep_timeline = true};
  TracePhase phase(wishes, Seconds(0.01), false);
  Losing steps;
  EXPECT_ERROR_OF(DeviceLost,
                  HasSubstr("tracing: a step failed: CUDA: cudaEventSynchronize failed: an illegal "
                            "memory access was encountered"),
                  phase.run(steps, runtime_, nullptr));
  EXPECT_EQ(attached, 0) << "the tracer has let go";
  EXPECT_EQ(phase.timeline(), nullptr);
  Record record;
  phase.describe(record, 1e-4, {});
  EXPECT_TRUE(record.cells().empty());
  phase.run(steps, runtime_, nullptr);
  EXPECT_NE(phase.timeline(), nullptr) << "what is traced then is whole";
}

TEST_F(TracePhaseTest, ProcessesTakeTheSameStepsAlsoWithoutATracer) {
  TracePhase phase({.new_tracer = [](const Devices&) { return std::make_unique<Refusing>(); }}, Seconds(0.01), true);
  phase.run(steps_, runtime_, nullptr);
  Record record;
  phase.describe(record, 1e-4, {});
  EXPECT_TRUE(record.cells().empty());
  EXPECT_EQ(phase.replica_trace().absence, "nobody may trace here");
}

}  // namespace
}  // namespace gpubench
