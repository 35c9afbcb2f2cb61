#include "core/data/tune/autotune_plan.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubench {
namespace {

using testing::HasSubstr;

/// A made-up pipeline: a source, one map and a consumer. What its next window would show follows from the map's
/// workers.
struct World {
  double cpu = 0.0;       ///< seconds of computing per element of the map
  double wait = 0.0;      ///< seconds of waiting
  double source = 0.0;    ///< seconds of the source, one call at a time
  double consumer = 0.0;  ///< seconds of the consumer
  double cores = 2.0;
  double bandwidth = 1e9;  ///< elements/s that the waiting can give, however many wait
  std::int64_t worker_bytes = 0;

  double rate(int workers) const {
    const double computed = cpu > 0.0 ? cores / cpu : 1e9;
    const double taken = consumer > 0.0 ? 1.0 / consumer : 1e6;
    const double read = source > 0.0 ? 1.0 / source : 1e9;
    return std::min({workers / (cpu + wait), computed, taken, read, bandwidth});
  }
  PipelineLoad load(int workers) const {
    const double got = rate(workers);
    const double waited = std::max(wait, workers / got - cpu);  // a full device makes all wait longer
    StageLoad map{.knob = Knob::workers, .setting = workers, .unit_bytes = worker_bytes};
    map.work = Seconds(bandwidth < 1e9 ? cpu + waited : cpu + wait);
    map.cpu = Seconds(cpu);
    map.source = Seconds(source);
    map.starved = 1.0 - got * (consumer > 0.0 ? consumer : 1e-6);
    return {.rate = got, .starved = map.starved, .stages = {map}};
  }
  TuningLimits limits() const { return {.cores = cores, .ram_bytes = 1 << 30, .threads = 0}; }
};

/// The setting after so many windows, and why.
Choice settle(const World& world, AutotunePlanner& planner, int workers, int windows = 30) {
  Choice choice{workers, ""};
  for (int i = 0; i < windows; ++i) choice = planner.plan(world.load(choice.setting)).front();
  return choice;
}
Choice settle(const World& world, int workers = 2, int windows = 30) {
  AutotunePlanner planner(world.limits());
  return settle(world, planner, workers, windows);
}

TEST(AutotunePlan, CoresLimitAMapThatComputes) {
  const Choice choice = settle({.cpu = 1e-3, .cores = 8}, 1);
  EXPECT_EQ(choice.setting, 8);
  EXPECT_EQ(choice.why, "8 cores compute at most 8e+03/s, one worker 1e+03/s");
}

TEST(AutotunePlan, AMapThatWaitsGetsMoreWorkersThanCores) {
  const World world{.cpu = 1e-5, .wait = 1e-3, .consumer = 5e-5};
  const Choice choice = settle(world);
  EXPECT_GE(world.rate(choice.setting), 0.95 * world.rate(64));
  EXPECT_GT(choice.setting, 15);
  EXPECT_LE(choice.setting, 24);
}

TEST(AutotunePlan, SettlesWithinTenWindows) {
  for (const double wait : {1e-4, 1e-3, 1e-2}) {
    const World world{.cpu = 1e-6, .wait = wait, .consumer = 1e-4};
    EXPECT_GE(world.rate(settle(world, 2, 10).setting), 0.95 * world.rate(64)) << wait;
  }
}

TEST(AutotunePlan, TakesNoCoresFromAConsumerThatIsTheLimit) {
  const Choice choice = settle({.cpu = 1e-3, .consumer = 4e-3, .cores = 8}, 8);
  EXPECT_EQ(choice.setting, 1);
  EXPECT_EQ(choice.why, "the consumer could take 250/s, one worker 1e+03/s");
}

TEST(AutotunePlan, HandsBackWorkersThatASlowSourceLeavesIdle) {
  const Choice choice = settle({.cpu = 1e-3, .source = 5e-3, .cores = 8}, 8);
  EXPECT_EQ(choice.setting, 1);
  EXPECT_THAT(choice.why, HasSubstr("the source gives at most 200/s"));
}

TEST(AutotunePlan, ReactsWhenTheCostChanges) {
  World world{.cpu = 1e-4, .consumer = 2e-4, .cores = 8};
  AutotunePlanner planner(world.limits());
  EXPECT_EQ(settle(world, planner, 8).setting, 1);
  world.cpu = 1e-3;
  const int more = settle(world, planner, 1).setting;
  EXPECT_GE(more, 5);
  EXPECT_LE(more, 6);
  world.cpu = 1e-4;
  EXPECT_EQ(settle(world, planner, more).setting, 1);
}

TEST(AutotunePlan, TakesBackWhatBroughtNothing) {
  const World disk{.wait = 1e-3, .consumer = 1e-5, .bandwidth = 4000.0};
  AutotunePlanner planner(disk.limits());
  const Choice choice = settle(disk, planner, 4, 12);
  EXPECT_EQ(choice.setting, 4);
  EXPECT_EQ(choice.why, "more than 4 workers brought nothing");
}

TEST(AutotunePlan, ABusyMomentOfTheMachineEndsNoTrial) {
  const World world{.cpu = 1e-5, .wait = 1e-3, .consumer = 5e-5};
  AutotunePlanner planner(world.limits());
  Choice choice = planner.plan(world.load(2)).front();
  ASSERT_EQ(choice.setting, 8);
  for (int i = 0; i < 2; ++i) {
    PipelineLoad busy = world.load(choice.setting);
    busy.rate = 0.5 * world.rate(2);  // another program has the cores; the map itself can do four times as much
    choice = planner.plan(busy).front();
  }
  EXPECT_GE(world.rate(settle(world, planner, choice.setting, 3).setting), 0.95 * world.rate(64));
}

/// A consumer that still waits for a twentieth of the time with fewer than `smooth` workers, for no other reason than
/// that elements come in bursts.
int settle_in_bursts(const World& world, int smooth, AutotunePlanner& planner) {
  int workers = 2;
  for (int i = 0; i < 30; ++i) {
    PipelineLoad load = world.load(workers);
    if (workers < smooth) {
      load.rate *= 0.95;
      load.starved = std::max(load.starved, 0.05);
    }
    load.stages[0].starved = load.starved;
    workers = planner.plan(load).front().setting;
  }
  return workers;
}

TEST(AutotunePlan, AConsumerThatStillWaitsGetsMoreThanTheAverageNeeds) {
  const World world{.cpu = 1e-5, .wait = 1e-3, .consumer = 2e-4};
  AutotunePlanner planner(world.limits());
  EXPECT_EQ(settle_in_bursts(world, 8, planner), 9);
}

TEST(AutotunePlan, ASurplusThatBringsNothingIsTakenBack) {
  const World world{.cpu = 1e-5, .wait = 1e-3, .consumer = 2e-4};
  AutotunePlanner planner(world.limits());
  EXPECT_EQ(settle_in_bursts(world, 1000, planner), 6);
}

TEST(AutotunePlan, ShortNoiseDoesNotTakeWorkersAway) {
  const World world{.cpu = 1e-3, .cores = 4};
  AutotunePlanner planner(world.limits());
  PipelineLoad noise = world.load(4);
  noise.stages[0].work = Seconds(1e-4);
  EXPECT_EQ(planner.plan(world.load(4)).front().setting, 4);
  EXPECT_EQ(planner.plan(noise).front().setting, 4);
  EXPECT_EQ(planner.plan(noise).front().setting, 4);
  EXPECT_EQ(planner.plan(world.load(4)).front().setting, 4);
  EXPECT_EQ(planner.plan(noise).front().setting, 4);
}

TEST(AutotunePlan, StaysWithinItsThreads) {
  const World world{.wait = 1e-2, .consumer = 1e-4};
  AutotunePlanner planner({.cores = 2, .ram_bytes = 1 << 30, .threads = 5});
  const Choice choice = settle(world, planner, 2);
  EXPECT_EQ(choice.setting, 5);
  EXPECT_EQ(choice.why, "all that 5 threads leave");
}

TEST(AutotunePlan, StaysWithinItsMemory) {
  const World world{.wait = 1e-2, .consumer = 1e-4, .worker_bytes = 1 << 20};
  AutotunePlanner planner({.cores = 2, .ram_bytes = 6 << 20, .threads = 0});
  const Choice choice = settle(world, planner, 2);
  EXPECT_EQ(choice.setting, 6);
  EXPECT_THAT(choice.why, HasSubstr("all that fits 6"));
}

TEST(AutotunePlan, CountsMemoryThatTheStageTakesInAnyCase) {
  const World world{.wait = 1e-2, .consumer = 1e-4, .worker_bytes = 1 << 20};
  AutotunePlanner planner({.cores = 2, .ram_bytes = 6 << 20, .threads = 0});
  PipelineLoad load = world.load(6);
  load.stages[0].fixed_bytes = 2 << 20;
  EXPECT_EQ(planner.plan(load).front().setting, 4);
  load.stages[0].fixed_bytes = 7 << 20;
  const Choice least = planner.plan(load).front();
  EXPECT_EQ(least.setting, 1);
  EXPECT_EQ(least.why, "the least that works: all stages take 8 MiB, more than the budget of 6 MiB");
}

PipelineLoad with_buffer(int places, double starved, double blocked, std::int64_t bytes) {
  StageLoad prefetch{.knob = Knob::buffer, .setting = places, .unit_bytes = bytes};
  prefetch.starved = starved;
  prefetch.blocked = blocked;
  return {.rate = 100.0, .starved = starved, .stages = {prefetch}};
}

TEST(AutotunePlan, ABufferGrowsWhenBothSidesWait) {
  AutotunePlanner planner({.cores = 2, .ram_bytes = 10 << 20, .threads = 0});
  EXPECT_EQ(planner.plan(with_buffer(2, 0.1, 0.1, 1)).front().setting, 4);
  EXPECT_EQ(planner.plan(with_buffer(4, 0.1, 0.0, 1)).front().setting, 4);
  EXPECT_EQ(planner.plan(with_buffer(4, 0.0, 0.9, 1)).front().setting, 4);
}

TEST(AutotunePlan, BuffersShrinkBeforeWorkersDo) {
  AutotunePlanner planner({.cores = 2, .ram_bytes = 10 << 20, .threads = 0});
  EXPECT_EQ(planner.plan(with_buffer(16, 0.0, 0.9, 1 << 20)).front().setting, 10);
  PipelineLoad both = with_buffer(16, 0.0, 0.9, 1 << 20);
  both.stages.push_back(StageLoad{.knob = Knob::workers, .setting = 2, .unit_bytes = 4 << 20});
  both.stages.back().work = Seconds(2e-2);
  const std::vector<Choice> choices = planner.plan(both);
  EXPECT_EQ(choices[0].setting, 2);
  EXPECT_EQ(choices[1].setting, 2);
}

TEST(AutotunePlan, LeavesAloneWhatWasAskedFor) {
  AutotunePlanner planner({.cores = 2, .ram_bytes = 1, .threads = 1});
  PipelineLoad load = with_buffer(16, 0.5, 0.5, 1 << 20);
  load.stages[0].knob = Knob::none;
  EXPECT_EQ(planner.plan(load).front().setting, 16);
}

StageWindow window_of(std::size_t consumer, StageProgress done) {
  return {.consumer = consumer, .knob = Knob::workers, .setting = 2, .done = done};
}

TEST(PipelineLoad, WaitingForACoreIsNeitherWorkNorWaiting) {
  StageProgress done{.computed = 100, .taken = 100, .busy = Seconds(2.0)};
  done.threads = {.cpu = Seconds(0.5), .ready = Seconds(1.0)};
  const PipelineLoad load = pipeline_load(std::vector{window_of(StageWindow::none, done)}, Seconds(1.0));
  EXPECT_DOUBLE_EQ(load.rate, 100.0);
  EXPECT_DOUBLE_EQ(load.stages[0].work.count(), 0.01);
  EXPECT_DOUBLE_EQ(load.stages[0].cpu.count(), 0.005);
}

TEST(PipelineLoad, CountsInElementsOfTheOutput) {
  const StageProgress map{.computed = 3200, .taken = 3200, .busy = Seconds(1.6), .starved = Seconds(0.3)};
  const StageProgress prefetch{.computed = 100, .taken = 100, .source = Seconds(0.8), .starved = Seconds(0.25)};
  const std::vector stages{window_of(StageWindow::none, prefetch), window_of(0, map)};
  const PipelineLoad load = pipeline_load(stages, Seconds(1.0));
  EXPECT_EQ(delivered(stages), 100);
  EXPECT_DOUBLE_EQ(load.starved, 0.25);
  EXPECT_DOUBLE_EQ(load.stages[0].source.count(), 0.005);  // without what it waited for the map
  EXPECT_DOUBLE_EQ(load.stages[1].work.count(), 0.016);
}

}  // namespace
}  // namespace gpubench
