#include "core/exec/executor.h"

#include <array>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "core/exec/run/graph_executor.h"
#include "core/ops/shape_ops.h"
#include "tests/core/exec/small_model.h"
#include "tests/support/device_configs.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

const HostTensor x = random_tensor({SmallModel::batch, SmallModel::inputs}, 3);
const HostTensor target = random_tensor({SmallModel::batch, SmallModel::outputs}, 4);

std::vector<float> losses(const Devices& devices, const ExecutorOptions& options, int steps, HostTensor* kernel) {
  Runtime runtime(devices);
  const SmallModel model(runtime);
  Program program = model.step();
  const auto executor = make_executor(runtime, std::move(program.graph), program.outputs, options);
  std::vector<float> result;
  const std::array inputs{x.view(), target.view()};
  for (int step = 0; step < steps; ++step) {
    executor->run(inputs);
    result.push_back(executor->read(0).values<float>()[0]);
  }
  if (kernel != nullptr) *kernel = runtime.variables().read(*model.kernel);
  return result;
}

TEST(Executor, TrainsDownhill) {
  const Devices devices{DeviceConfig{}};
  const std::vector<float> loss = losses(devices, {}, 60, nullptr);
  EXPECT_LT(loss.back(), 0.5F * loss.front());
}

TEST(Executor, EagerEqualsGraphToRounding) {
  const Devices devices{DeviceConfig{}};
  HostTensor planned, eager;
  const auto a = losses(devices, {}, 20, &planned);
  const auto b = losses(devices, {Execution::eager, {}}, 20, &eager);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5F * std::abs(a[i]));
  for (std::size_t i = 0; i < planned.values<float>().size(); ++i) {
    EXPECT_NEAR(planned.values<float>()[i], eager.values<float>()[i], 1e-5F);
  }
}

TEST(Executor, SameSeedSameBytes) {
  const Devices devices{DeviceConfig{}};
  HostTensor first, second;
  losses(devices, {}, 2, &first);
  losses(devices, {}, 2, &second);
  EXPECT_TRUE(std::equal(first.data(), first.data() + first.bytes(), second.data()));
}

TEST(Executor, RunsAgainOnTheLatestInputs) {
  const Devices devices{DeviceConfig{}};
  for (const Execution execution : {Execution::graph, Execution::eager}) {
    const auto expected = losses(devices, {execution, {}}, 4, nullptr);
    Runtime runtime(devices);
    const SmallModel model(runtime);
    Program program = model.step();
    const auto executor = make_executor(runtime, std::move(program.graph), program.outputs, {execution, {}});
    executor->run(std::array{x.view(), target.view()});
    for (std::size_t step = 1; step < expected.size(); ++step) {
      executor->run_again();
      EXPECT_EQ(executor->read(0).values<float>()[0], expected[step]) << to_string(execution);
    }
  }
}

TEST(Executor, NoMemoryIsLeftBehind) {
  const Devices devices{DeviceConfig{}};
  for (const Execution execution : {Execution::graph, Execution::eager}) {
    losses(devices, {execution, {}}, 3, nullptr);
    EXPECT_EQ(devices.device({}).memory().use().in_use, 0U) << to_string(execution);
  }
}

TEST(Executor, PlansOfOneReplicaShareAnArena) {
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  const SmallModel model(runtime);
  Program one = model.step(), two = model.step();
  const auto first = make_executor(runtime, std::move(one.graph), one.outputs);
  const std::size_t with_one = devices.device({}).memory().use().in_use;
  const auto second = make_executor(runtime, std::move(two.graph), two.outputs);
  const std::size_t constants = MemoryPool::alignment * 8;  // of the second plan, each rounded up
  EXPECT_LE(devices.device({}).memory().use().in_use, with_one + constants);
  const std::array inputs{x.view(), target.view()};
  first->run(inputs);
  const float before = first->read(0).values<float>()[0];
  second->run(inputs);
  EXPECT_LT(second->read(0).values<float>()[0], before) << "both update the same variables";
}

TEST(Executor, AnArenaThatGrowsLeavesNoBlockBehind) {
  constexpr std::size_t mib = std::size_t{1} << 20U;
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  const MemoryPool& pool = devices.device({}).memory();
  const Arena::Claim small = runtime.claim_arena({}, 8 * mib, "arena");
  const Arena::Claim large = runtime.claim_arena({}, 32 * mib, "arena");
  EXPECT_EQ(pool.use().in_use, 32 * mib);
  EXPECT_EQ(pool.use().reserved, 32 * mib);
  EXPECT_EQ(small.data(), large.data());
}

TEST(Executor, SegmentsOnSeveralDevicesGiveTheSameResult) {
  const Devices devices(support::cpu_devices({{}, {}}));
  Runtime runtime(devices);
  const DeviceId second{DeviceId::Kind::cpu, 1, {}};
  const SmallModel near(runtime), far(runtime, second);

  const auto run = [&](const SmallModel& model) {
    Graph graph;
    const Value input = graph.input(x.type(), "x");
    const Value y = model.forward(graph, input);
    const Value doubled = ops::add(graph, y, y);  // on cpu:0 again
    auto executor = make_executor(runtime, std::move(graph), {doubled});
    const std::array inputs{x.view()};
    executor->run(inputs);
    return executor->read(0);
  };
  const HostTensor a = run(near), b = run(far);
  EXPECT_THAT(a.values<float>(), testing::Pointwise(testing::FloatEq(), b.values<float>()));
}

TEST(Executor, AnUpdateOfACopyIsRefused) {
  const Devices devices(support::cpu_devices({{}, {}}));
  Runtime runtime(devices);
  const SmallModel model(runtime, {DeviceId::Kind::cpu, 1, {}});
  Program program = model.step();
  Graph moved;
  moved.set_device({});
  const Value rate = moved.variable(model.rate), kernel = moved.variable(model.kernel);
  const std::array variables{kernel}, slopes{kernel};
  ops::sgd_update(moved, {}, rate, variables, slopes, {});
  EXPECT_ERROR(testing::HasSubstr("updates a tensor on cpu:1 in place, but the op is placed "
                                  "on cpu:0; place both on one device"),
               make_executor(runtime, std::move(moved), {}));
}

TEST(Executor, WhatDependsOnConstantsAloneRunsOnce) {
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  Graph graph;
  const Value input = graph.input({{3}, Dtype::f32}, "x");
  const Value one = graph.constant(1.0F);
  const Value two = ops::add(graph, one, one);
  const Value y = ops::mul(graph, input, ops::broadcast_to(graph, two, {3}));
  Program program{std::move(graph), {y}};
  GraphExecutor executor(runtime, program, {});
  EXPECT_EQ(executor.facts().kernels, 1U);
  const HostTensor given = random_tensor({3}, 9);
  const std::array inputs{given.view()};
  executor.run(inputs);
  EXPECT_FLOAT_EQ(executor.read(0).values<float>()[2], 2 * given.values<float>()[2]);
}

TEST(Executor, OutOfMemoryNamesThePlansTensors) {
  const Devices devices(support::cpu_devices({{.memory = {.limit = 4096}}}));
  Runtime runtime(devices);
  Graph graph;
  const Value input = graph.input({{64, 64}, Dtype::f32}, "x");
  const GraphScope scope(graph, "layer");
  Program program{std::move(graph), {}};
  program.outputs = {ops::exp(program.graph, input)};
  EXPECT_ERROR_OF(
      OutOfMemory,
      testing::AllOf(testing::HasSubstr("cpu:0: out of memory: 16 KiB asked for 'arena'"),
                     testing::HasSubstr("of a limit of 4 KiB"), testing::HasSubstr("the plan's largest tensors: ")),
      make_executor(runtime, std::move(program.graph), program.outputs));
  EXPECT_EQ(devices.device({}).memory().use().in_use, 0U);
}

TEST(Executor, ReadsExecutionNames) {
  EXPECT_EQ(parse_execution("eager"), Execution::eager);
  EXPECT_ERROR("unknown execution 'lazy' (known: graph, eager)", parse_execution("lazy"));
}

}  // namespace
}  // namespace gpubench
