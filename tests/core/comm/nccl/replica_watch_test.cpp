// What replicas on GPUs spend on each other, from the measurement of their steps and a trace that is made up: nothing
// here takes the time that it says.
#include "core/experiment/steps/replica_watch.h"

#include <array>
#include <functional>
#include <gmock/gmock.h>
#include <optional>
#include <thread>

#include "core/base/error.h"
#include "core/experiment/steps/step_measurement.h"
#include "core/results/cell.h"
#include "tests/core/comm/nccl/gpus.h"
#include "tests/core/group/thread_group.h"

namespace gpubench {
namespace {

using ::testing::DoubleNear;
using ::testing::StartsWith;
using namespace std::chrono_literals;

/// Steps of two GPUs, each with one exchange.
class ExchangingSteps final : public StepSource {
 public:
  explicit ExchangingSteps(Runtime& runtime)
      : replicas_(runtime, {.devices = {{DeviceId::Kind::gpu, 0, {}}, {DeviceId::Kind::gpu, 1, {}}}}, nullptr),
        watch_(replicas_) {
    for (int replica = 0; replica < replicas_.size(); ++replica) {
      Device& device = runtime.devices().device(replicas_.device(replica));
      tensors_.emplace_back(device, Dtype::f32, std::vector<float>{1, 2, 3});
    }
  }
  void step() override {
    begun.push_back(Clock::now());
    replicas_.step([this](int replica) {
      Collective sum;
      sum.tensors = {tensors_[static_cast<std::size_t>(replica)].view()};
      Runtime& runtime = replicas_.runtime(replica);
      replicas_.communicator(replica).run(sum, runtime.stream(replicas_.device(replica)));
    });
  }
  std::int64_t examples() const override { return 8; }
  Clock::time_point fetched() const override { return begun.back(); }
  ReplicaWatch* replicas() override { return &watch_; }

  std::vector<Clock::time_point> begun;  ///< by step

 private:
  Replicas replicas_;
  ReplicaWatch watch_;
  std::vector<GpuTensor> tensors_;
};

/// What goes wrong with a trace.
struct Gaps {
  std::size_t lost = 0;
  bool left_out = false;  ///< the second GPU's last exchange
  bool kernels = false;   ///< all exchanges
};

/// Sees an exchange of each GPU in every step: the second GPU comes 30 ns late to each, of which a kernel of the first
/// hides 10.
class NcclTracer final : public Tracer {
 public:
  NcclTracer(const ExchangingSteps& steps, const Gaps& gaps) : steps_(steps), gaps_(gaps) {}
  void start() override { first_ = steps_.begun.size(); }
  std::size_t stop(Timeline& timeline) override {
    for (std::size_t step = first_; step < steps_.begun.size(); ++step) {
      const Clock::time_point begin = steps_.begun[step];
      add(timeline, SpanClass::compute, 0, begin, 10ns);
      if (gaps_.kernels) continue;
      add(timeline, SpanClass::communication, 0, begin, 50ns);
      if (gaps_.left_out && step + 1 == steps_.begun.size()) continue;
      add(timeline, SpanClass::communication, 1, begin + 30ns, 20ns);
    }
    return gaps_.lost;
  }

 private:
  static void add(Timeline& timeline, SpanClass span_class, int gpu, Clock::time_point begin, Clock::duration length) {
    Span span;
    span.span_class = span_class;
    span.name = span.lane = timeline.name("made up");
    span.gpu = gpu;
    span.begin = begin;
    span.end = begin + length;
    timeline.add(span);
  }

  const ExchangingSteps& steps_;
  Gaps gaps_;
  std::size_t first_ = 0;
};

class NoTracer final : public Tracer {
 public:
  void start() override { throw Error("nobody may trace here"); }
  std::size_t stop(Timeline&) override { return 0; }
};

class ReplicaWatchTest : public ::testing::Test {
 protected:
  using NewTracer = std::function<std::unique_ptr<Tracer>(const Devices&)>;

  ReplicaWatchTest() {
    cuda_on_cpu::machine().gpus = 2;
    devices_.emplace(DeviceConfig{});
    runtime_.emplace(*devices_);
    steps_.emplace(*runtime_);
  }
  ~ReplicaWatchTest() override {
    steps_.reset();
    runtime_.reset();
    devices_.reset();
    cuda_on_cpu::machine().gpus = 1;
  }

  StepMeasurement measured(const NewTracer& new_tracer) {
    StepLimits limits;
    limits.stopping.budget = limits.stopping.min_time = Seconds(0.001);
    limits.warmup.max_time = limits.warmup.window_time = Seconds(1e-9);
    limits.warmup.window_steps = 1;
    limits.trace.new_tracer = new_tracer;
    return measure_steps(*steps_, *runtime_, limits, "test");
  }
  StepMeasurement traced(const Gaps& gaps = {}) {
    return measured([&](const Devices&) { return std::make_unique<NcclTracer>(*steps_, gaps); });
  }
  static std::string text(const Cell& cell) { return std::get<std::string>(cell); }
  static double number(const Record& record, std::string_view column) {
    return number_in(record.get(column)).value_or(-1);
  }
  static void expect_no_times(const StepMeasurement& measurement, const std::string& detail) {
    EXPECT_EQ(text(measurement.record.get("detail")), detail);
    for (const char* column : {"communication_share", "peer_wait_share", "exchange_time_s", "overlap_share",
                               "imbalance", "last_rank", "last_rank_device", "last_rank_share"}) {
      EXPECT_FALSE(measurement.record.has(column)) << column;
    }
    EXPECT_EQ(number(measurement.record, "exchanges"), 1) << "counted by the host";
    EXPECT_EQ(measurement.ranks.size(), 2U);
  }

  std::optional<Devices> devices_;
  std::optional<Runtime> runtime_;
  std::optional<ExchangingSteps> steps_;
};

TEST_F(ReplicaWatchTest, TimesOfGpusComeFromTheTrace) {
  const StepMeasurement measurement = traced();
  const Record& record = measurement.record;
  const double step = number(record, "traced_step_time_s");
  const auto share = [&](double seconds) { return DoubleNear(seconds / step, 1e-12); };
  ASSERT_EQ(measurement.ranks.size(), 2U);
  const RankTimes &first = measurement.ranks[0], &second = measurement.ranks[1];
  EXPECT_THAT(first.peer_wait, DoubleNear(20e-9, 1e-15)) << "30 ns, of which a kernel hides 10";
  EXPECT_EQ(second.peer_wait, 0);
  for (const RankTimes& rank : measurement.ranks) {
    EXPECT_THAT(rank.exchange, DoubleNear(20e-9, 1e-15));
    EXPECT_THAT(rank.exposed, DoubleNear(20e-9, 1e-15));
    EXPECT_THAT(rank.own + rank.peer_wait + rank.exposed, DoubleNear(step, 1e-12));
  }
  EXPECT_THAT(number(record, "communication_share"), share(20e-9));
  EXPECT_THAT(number(record, "peer_wait_share"), share(10e-9)) << "the mean of both";
  EXPECT_THAT(number(record, "compute_share"), share(5e-9)) << "the mean of both";
  EXPECT_THAT(number(record, "exchange_time_s"), DoubleNear(20e-9, 1e-15));
  EXPECT_NEAR(number(record, "overlap_share"), 0, 1e-9);
  EXPECT_GT(number(record, "imbalance"), 0);
  EXPECT_EQ(number(record, "last_rank"), 1);
  EXPECT_EQ(number(record, "last_rank_share"), 1);
  EXPECT_EQ(text(record.get("last_rank_device")), "gpu:1");
  EXPECT_EQ(text(record.get("device")), "gpu:0 gpu:1");
  EXPECT_EQ(number(record, "replicas"), 2);
  EXPECT_FALSE(record.has("detail"));
}

// A tracer tells when the nodes of a recording ran only where it was made under its eyes. What was recorded then is
// slower afterwards too.
TEST_F(ReplicaWatchTest, AllReplicasRecordAnewForTheTrace) {
  traced();
  Replicas& replicas = steps_->replicas()->replicas();
  for (int replica = 0; replica < replicas.size(); ++replica) EXPECT_EQ(replicas.runtime(replica).recordings(), 2U);
}

TEST_F(ReplicaWatchTest, SharesOfAStepSumToOne) {
  const StepMeasurement measurement = traced();
  double sum = 0;
  for (const StepClass& one : step_classes) sum += number(measurement.record, one.column);
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST_F(ReplicaWatchTest, TracesThatDoNotMatchTellNoTimes) {
  const StepMeasurement measurement = traced({.left_out = true});
  const std::string detail = text(measurement.record.get("detail"));
  EXPECT_THAT(detail, StartsWith("no times of the replicas' exchanges: traces of all replicas need the same exchanges; "
                                 "rank 0 has "));
  expect_no_times(measurement, detail);
  EXPECT_TRUE(measurement.record.has("compute_share"));
}

TEST_F(ReplicaWatchTest, ExchangesThatNoTraceShowsAreNotFree) {
  expect_no_times(traced({.kernels = true}),
                  "no times of the replicas' exchanges: the trace shows no kernel of the exchanges that were made");
}

TEST_F(ReplicaWatchTest, TracesWithGapsTellNoTimes) {
  expect_no_times(traced({.lost = 3}), "no times of the replicas' exchanges: 3 spans of the trace were lost");
}

TEST_F(ReplicaWatchTest, WithoutATraceThereAreNoTimes) {
  const StepMeasurement measurement = measured([](const Devices&) { return std::make_unique<NoTracer>(); });
  expect_no_times(measurement, "no shares but the input's: nobody may trace here");
  expect_no_times(measured({}),
                  "no times of the replicas' exchanges: exchanges of GPUs are told by a trace, and none was taken");
}

/// What process `number` of two, with one GPU, knows in the end of a step that took a microsecond.
void watch_in_process(Threads& threads, int number, const ReplicaTrace& trace, std::vector<RankTimes>& ranks,
                      std::string& absence) {
  ThreadGroup group(threads, number);
  Devices devices{DeviceConfig{}};
  Runtime runtime{devices};
  Replicas replicas(runtime, {.devices = {{DeviceId::Kind::gpu, static_cast<std::int16_t>(number), {}}}}, &group);
  ReplicaWatch watch(replicas);
  watch.begin();
  const GpuTensor tensor(devices.device(replicas.device(0)), Dtype::f32, std::vector<float>{1});
  Collective sum;
  sum.tensors = {tensor.view()};
  replicas.step([&](int) { replicas.communicator(0).run(sum, runtime.stream(replicas.device(0))); });
  runtime.synchronize();
  watch.end(1, 1us);
  EXPECT_TRUE(watch.needs_trace());
  watch.add_trace(trace);
  ranks = watch.ranks();
  absence = watch.absence();
  group.barrier();
}

class ReplicaWatchOfProcesses : public ::testing::Test {
 protected:
  ReplicaWatchOfProcesses() { cuda_on_cpu::machine().gpus = 2; }
  ~ReplicaWatchOfProcesses() override { cuda_on_cpu::machine().gpus = 1; }

  void watch(const ReplicaTrace& first, const ReplicaTrace& second) {
    Threads threads(2);
    const std::jthread one([&] { watch_in_process(threads, 0, first, ranks_[0], absences_[0]); });
    const std::jthread other([&] { watch_in_process(threads, 1, second, ranks_[1], absences_[1]); });
  }
  static ReplicaTrace trace_of(Clock::duration length) {
    return {.exchanges = {{{length, {{0ns, length}}}}}, .steps = 1, .step_time = Seconds(2e-6)};
  }

  std::array<std::vector<RankTimes>, 2> ranks_;
  std::array<std::string, 2> absences_;
};

TEST_F(ReplicaWatchOfProcesses, AllKnowWhoCameLast) {
  watch(trace_of(500ns), trace_of(200ns));
  for (std::size_t process = 0; process < 2; ++process) {
    EXPECT_EQ(absences_[process], "");
    ASSERT_EQ(ranks_[process].size(), 2U);
    const RankTimes &first = ranks_[process][0], &second = ranks_[process][1];
    EXPECT_EQ(first.device, "gpu:0 of worker-0");
    EXPECT_EQ(second.device, "gpu:1 of worker-1");
    EXPECT_THAT(first.peer_wait, DoubleNear(300e-9, 1e-15));
    EXPECT_EQ(second.peer_wait, 0);
    EXPECT_THAT(first.exchange, DoubleNear(200e-9, 1e-15));
    EXPECT_THAT(second.own, DoubleNear(1800e-9, 1e-15));
    EXPECT_EQ(first.exchanges, 1);
    EXPECT_EQ(last_rank(ranks_[process]).rank, 1);
    EXPECT_EQ(last_rank(ranks_[process]).share, 1);
  }
}

TEST_F(ReplicaWatchOfProcesses, WhereOneHasNoTraceNobodyHasTimes) {
  ReplicaTrace nothing;
  nothing.absence = "nobody may trace here";
  watch(trace_of(500ns), nothing);
  for (std::size_t process = 0; process < 2; ++process) {
    EXPECT_EQ(absences_[process], "worker-1: nobody may trace here");
    for (const RankTimes& rank : ranks_[process]) EXPECT_FALSE(rank.timed);
  }
}

}  // namespace
}  // namespace gpubench
