// A step with exchanges in which the host has a part: what lies between them is recorded, they are not, and kernels run
// beside one that has begun.
#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/comm/factory.h"
#include "core/exec/executor.h"
#include "core/graph/exchange_ops.h"
#include "core/ops/elementwise.h"
#include "tests/support/cuda_on_cpu/gpu.h"

namespace gpubench {
namespace {

const DeviceId gpu{DeviceId::Kind::gpu, 0, {}};

HostTensor filled(float value) {
  HostTensor tensor(TensorType{{64}, Dtype::f32});
  for (float& element : tensor.values<float>()) element = value;
  return tensor;
}

TEST(StagedStep, IsRecordedBetweenExchanges) {
  Devices devices{DeviceConfig{}};
  Runtime runtime{devices};
  const std::vector<Device*> one{&devices.device(gpu)};
  const auto communicators = make_communicators(one, CrossDevice::local, nullptr);
  Graph graph;
  graph.set_device(gpu);
  const Value x = graph.input({{64}, Dtype::f32}, "x");
  const Value square = ops::mul(graph, x, x);
  const Value begun = graph.apply(std::make_shared<const AllReduceBegin>(1), {square});
  const Value beside = ops::add(graph, x, x);
  const Value sum = graph.apply(std::make_shared<const AllReduceEnd>(1), {begun});
  const Value both = ops::add(graph, sum, beside);
  const Value again = graph.apply(std::make_shared<const AllReduce>(1), {both});
  const Value y = ops::mul(graph, again, again);
  const auto executor =
      make_executor(runtime, std::move(graph), {y},
                    {.execution = Execution::graph, .passes = {}, .communicator = communicators[0].get()});
  const std::size_t graphs = cuda_on_cpu::graphs_made();
  for (int step = 1; step <= 6; ++step) {
    const auto value = static_cast<float>(step);
    const HostTensor input = filled(value);
    const std::array views{input.view()};
    executor->run(views);
    const float sums = value * value + 2 * value;
    EXPECT_THAT(executor->read(0).values<float>(), testing::Each(sums * sums)) << step;
  }
  // Two kernels that read the input, for each of its slots, and two that do not.
  EXPECT_EQ(cuda_on_cpu::graphs_made() - graphs, 6U);
  EXPECT_EQ(communicators[0]->times().collectives, 12);
}

}  // namespace
}  // namespace gpubench
