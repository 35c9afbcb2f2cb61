#include "core/exec/step_tracer.h"

#include <algorithm>
#include <functional>
#include <gmock/gmock.h>
#include <set>

#include "core/base/error.h"
#include "core/comm/host_communicator.h"
#include "core/exec/dispatcher.h"
#include "core/exec/run/segment_runner.h"
#include "tests/core/exec/small_model.h"
#include "tests/support/device_configs.h"

namespace gpubench {
namespace {

using ::testing::Each;
using ::testing::Ge;

class NoTracer final : public Tracer {
 public:
  void start() override {}
  std::size_t stop(Timeline&) override { return 0; }
};

class StepTracerTest : public ::testing::Test {
 protected:
  explicit StepTracerTest(DeviceConfig config = {}) : devices_(config) {}

  /// Runs the small model's step under a tracer, `steps` times after one that names the nodes.
  TracedSteps trace(Execution execution, int steps = 2) {
    const SmallModel model(runtime_);
    Program program = model.step();
    const auto executor =
        make_executor(runtime_, std::move(program.graph), std::move(program.outputs), {.execution = execution});
    const HostTensor x = random_tensor({SmallModel::batch, SmallModel::inputs}, 3),
                     target = random_tensor({SmallModel::batch, SmallModel::outputs}, 4);
    const std::array<TensorView, 2> inputs{x.view(), target.view()};
    executor->run(inputs);
    kernels_ = executor->facts().kernels;
    StepTracer tracing(runtime_, nullptr, tracer_, timeline_);
    executor->run(inputs);
    before_ = timeline_.size();
    tracing.begin();
    for (int step = 0; step < steps; ++step) {
      const Clock::time_point fetched = Clock::now();
      executor->run(inputs);
      tracing.end_step(fetched);
    }
    const TracedSteps traced = tracing.finish();
    after_ = timeline_.size();
    executor->run(inputs);
    EXPECT_EQ(timeline_.size(), after_) << "nothing is traced any more";
    return traced;
  }
  std::vector<Span> kernels() const {
    std::vector<Span> found;
    for (const Span& span : timeline_.spans().subspan(before_))
      if (span.span_class == SpanClass::compute) found.push_back(span);
    return found;
  }
  std::set<std::string> texts(std::string NodeName::*part) const {
    std::set<std::string> found;
    for (const Span& span : kernels()) found.insert(timeline_.node(span.node).*part);
    return found;
  }

  Devices devices_;
  Runtime runtime_{devices_};
  NoTracer tracer_;
  Timeline timeline_{5000};
  std::size_t before_ = 0, after_ = 0, kernels_ = 0;
};

TEST_F(StepTracerTest, EveryKernelOfAPlannedStepHasItsNode) {
  const TracedSteps traced = trace(Execution::graph);
  EXPECT_EQ(kernels().size(), 2 * kernels_);
  EXPECT_EQ(traced.ends.size(), 2U);
  EXPECT_EQ(texts(&NodeName::layer), (std::set<std::string>{"", "dense"}));
  EXPECT_TRUE(texts(&NodeName::op).contains("matmul"));
  EXPECT_TRUE(texts(&NodeName::role).contains("gradient"));
  EXPECT_EQ(traced.lost, 0U);
}

TEST_F(StepTracerTest, EagerKernelsHaveTheirNodesToo) {
  trace(Execution::eager);
  EXPECT_GE(kernels().size(), 2 * kernels_ - 2 * 4) << "views have no kernel";
  EXPECT_TRUE(texts(&NodeName::layer).contains("dense"));
  EXPECT_TRUE(texts(&NodeName::role).contains("gradient"));
}

TEST_F(StepTracerTest, ClassesSumToTheStepsAndLeaveNothingUnexplained) {
  for (const Execution execution : {Execution::graph, Execution::eager}) {
    timeline_.clear();
    const TracedSteps traced = trace(execution, 20);
    const Breakdown parts = break_down_each(timeline_.spans(), traced.devices, traced.window(), traced.lost);
    Clock::duration sum{};
    for (const Clock::duration part : parts.charged) sum += part;
    EXPECT_EQ(sum, traced.window().length());
    EXPECT_EQ(parts.share(SpanClass::other), 0);
    EXPECT_GT(parts.share(SpanClass::compute), 0);
    EXPECT_GT(parts.share(SpanClass::launch), 0);
    EXPECT_EQ(parts.doubt, "");
  }
}

TEST_F(StepTracerTest, SpansEndWithTheTracerEvenWithoutATrace) {
  {
    const StepTracer tracing(runtime_, nullptr, tracer_, timeline_);
    const HostSpans* const spans = runtime_.spans();
    EXPECT_NE(spans, nullptr);
    EXPECT_THROW(StepTracer(runtime_, nullptr, tracer_, timeline_), Error) << "one at a time";
    EXPECT_EQ(runtime_.spans(), spans);
  }
  EXPECT_EQ(runtime_.spans(), nullptr);
  EXPECT_TRUE(runtime_.records());
}

TEST_F(StepTracerTest, StopsBeforeTheTimelineIsFull) {
  Timeline small(40);
  StepTracer tracing(runtime_, nullptr, tracer_, small);
  tracing.begin();
  int steps = 0;
  for (; tracing.has_room() && steps < 1000; ++steps) tracing.end_step(Clock::now());
  EXPECT_GT(steps, 1);
  tracing.finish();
  EXPECT_EQ(small.dropped(), 0U);
}

TEST_F(StepTracerTest, ASpanWithoutRoomIsCounted) {
  Timeline tiny(1);
  StepTracer tracing(runtime_, nullptr, tracer_, tiny);
  tracing.begin();
  tracing.end_step(Clock::now());
  const TracedSteps traced = tracing.finish();
  EXPECT_GE(traced.lost, 2U);
  EXPECT_THAT(break_down_each(tiny.spans(), traced.devices, traced.window(), traced.lost).doubt,
              ::testing::EndsWith("spans of the trace were lost"));
}

TEST_F(StepTracerTest, NoTracerIsMadeForWorkInHostThreads) {
  const SmallModel model(runtime_);  // holds memory of cpu:0
  EXPECT_FALSE(uses_asynchronous_devices(devices_));
  const std::unique_ptr<Tracer> tracer = devices_.new_tracer();
  tracer->start();
  EXPECT_EQ(tracer->stop(timeline_), 0U);
  EXPECT_EQ(timeline_.size(), 0U);
}

// Where a wait is injected, its whole time counts for the class that waits: told by the breakdown of just that time,
// which no other load of the machine changes.
class DelayTest : public StepTracerTest {
 protected:
  static constexpr Seconds delay{2e-3};

  /// Blocks for `delay` and remembers when.
  void wait() {
    const Clock::time_point begin = Clock::now();
    while (Clock::now() - begin < delay) {
    }
    delays_.push_back({begin, Clock::now()});
  }
  void expect_all_in(SpanClass span_class, std::span<const TracedDevice> devices) const {
    std::vector<double> shares;
    for (const Window& window : delays_)
      shares.push_back(break_down_each(timeline_.spans(), devices, window).share(span_class));
    EXPECT_FALSE(shares.empty());
    EXPECT_THAT(shares, Each(Ge(0.95))) << to_string(span_class);
  }

  std::vector<Window> delays_;
};

TEST_F(DelayTest, InThePipelineIsInputWait) {
  StepTracer tracing(runtime_, nullptr, tracer_, timeline_);
  tracing.begin();
  for (int step = 0; step < 3; ++step) {
    wait();
    tracing.end_step(Clock::now());
  }
  expect_all_in(SpanClass::input_wait, tracing.finish().devices);
}

TEST_F(DelayTest, BetweenStepsIsTheHosts) {
  StepTracer tracing(runtime_, nullptr, tracer_, timeline_);
  tracing.begin();
  for (int step = 0; step < 3; ++step) {
    const Clock::time_point fetched = Clock::now();
    wait();
    tracing.end_step(fetched);
  }
  expect_all_in(SpanClass::host_compute, tracing.finish().devices);
}

/// Takes as long as it is told to, in the place of a kernel.
class SlowKernel final : public Kernel {
 public:
  explicit SlowKernel(std::function<void()> wait) : wait_(std::move(wait)) {}
  std::string_view implementation() const override { return "slow"; }
  void run(Stream&, std::span<const TensorView>, std::span<const TensorView>, std::span<std::byte>) override {
    wait_();
  }

 private:
  std::function<void()> wait_;
};

TEST_F(DelayTest, InAKernelIsCompute) {
  Program program;
  const Value x = program.graph.input({{4}, Dtype::f32}, "x");
  program.outputs = {ops::add(program.graph, x, x)};
  Plan plan = make_plan(program, devices_);
  plan.steps[0].kernel = std::make_unique<SlowKernel>([this] { wait(); });
  BoundPlan bound(plan, devices_, nullptr);
  std::vector<std::byte> arena(plan.arena_bytes[0]);
  bound.bind({.arenas = {arena.data()}, .host_arenas = {nullptr}});
  SegmentRunner segments(bound, nullptr);
  StepTracer tracing(runtime_, nullptr, tracer_, timeline_);
  segments.bind(runtime_.spans());
  tracing.begin();
  for (int step = 0; step < 3; ++step) {
    const Clock::time_point fetched = Clock::now();
    segments.run({}, runtime_.spans(), true);
    tracing.end_step(fetched);
  }
  expect_all_in(SpanClass::compute, tracing.finish().devices);
  EXPECT_EQ(texts(&NodeName::op), (std::set<std::string>{"add"}));
}

/// An exchange with a rank that is late, or that takes long.
class SlowExchange final : public HostExchange {
 public:
  SlowExchange(std::function<void()> wait, bool is_late) : wait_(std::move(wait)), is_late_(is_late) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  std::string_view noun() const override { return "rank"; }
  std::string_view name() const override { return "slow"; }
  std::string algorithm(const Collective&) const override { return {}; }
  ExchangeOutcome carry_out(const PreparedCollective&, Clock::time_point arrived, Clock::duration) override {
    wait_();
    const Clock::time_point done = Clock::now();
    return {.arrived = arrived, .last_arrived = is_late_ ? done : arrived, .done = done, .last_rank = 1};
  }
  void abort(const std::string&) noexcept override {}

 private:
  std::function<void()> wait_;
  bool is_late_;
};

TEST_F(DelayTest, InAnExchangeIsCommunicationOrWaitingForThePeer) {
  Stream& stream = runtime_.stream(devices_.default_device());
  HostTensor tensor = random_tensor({4}, 1);
  for (const bool is_late : {false, true}) {
    delays_.clear();
    const auto communicator = make_host_communicator(std::make_unique<SlowExchange>([this] { wait(); }, is_late));
    StepTracer tracing(runtime_, nullptr, tracer_, timeline_);
    communicator->set_spans(runtime_.spans());
    tracing.begin();
    for (int step = 0; step < 3; ++step) {
      const Clock::time_point fetched = Clock::now();
      communicator->run({.kind = CollectiveKind::all_reduce, .tensors = {tensor.view()}}, stream);
      tracing.end_step(fetched);
    }
    expect_all_in(is_late ? SpanClass::peer_wait : SpanClass::communication, tracing.finish().devices);
  }
}

TEST_F(DelayTest, InACopyIsCopy) {
  StepTracer tracing(runtime_, nullptr, tracer_, timeline_);
  tracing.begin();
  for (int step = 0; step < 3; ++step) {
    const Clock::time_point fetched = Clock::now();
    {
      const SpanScope copying(runtime_.copy_spans(devices_.default_device()), SpanClass::copy);
      wait();
    }
    tracing.end_step(fetched);
  }
  expect_all_in(SpanClass::copy, tracing.finish().devices);
}

class TwoDevicesTest : public StepTracerTest {
 protected:
  TwoDevicesTest() : StepTracerTest(support::without_gpus(support::cpu_devices({{.threads = 1}, {.threads = 1}}))) {}
};

TEST_F(TwoDevicesTest, CopiesBetweenThemAreCopies) {
  Dispatcher dispatcher(runtime_);
  StepTracer tracing(runtime_, nullptr, tracer_, timeline_);
  tracing.begin();
  Eager& eager = dispatcher.eager();
  const Tensor here = eager.upload(random_tensor({64}, 1), devices_.ids()[0]);
  const Tensor there = eager.transfer(here, devices_.ids()[1]);
  eager.download(there);
  tracing.end_step(tracing.now());
  tracing.finish();
  EXPECT_EQ(std::ranges::count(timeline_.spans(), SpanClass::copy, &Span::span_class), 3);
}

TEST_F(TwoDevicesTest, ReplicasShowTheirOwnKernelsAndExchanges) {
  Replicas replicas(runtime_, {.devices = devices_.ids()}, nullptr);
  StepTracer tracing(runtime_, &replicas, tracer_, timeline_);
  tracing.begin();
  const Clock::time_point fetched = Clock::now();
  replicas.step([&](int replica) {
    HostTensor tensor = random_tensor({64}, 1);
    const SpanScope kernel(replicas.runtime(replica).spans(), SpanClass::compute);
    replicas.communicator(replica).run({.kind = CollectiveKind::all_reduce, .tensors = {tensor.view()}},
                                       replicas.runtime(replica).stream(replicas.device(replica)));
  });
  tracing.end_step(fetched);
  const TracedSteps traced = tracing.finish();
  ASSERT_EQ(traced.devices.size(), 2U);
  EXPECT_FALSE(traced.on_gpus);
  for (const int replica : {0, 1}) {
    const auto of = [&](SpanClass span_class) {
      return std::ranges::count_if(timeline_.spans(), [&](const Span& span) {
        return span.replica == replica && span.span_class == span_class;
      });
    };
    EXPECT_EQ(of(SpanClass::compute), 1);
    EXPECT_EQ(of(SpanClass::communication), 1);
  }
  EXPECT_EQ(break_down_each(timeline_.spans(), traced.devices, traced.window()).devices, 2);
}

}  // namespace
}  // namespace gpubench
