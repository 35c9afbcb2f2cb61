#include "core/exec/dispatcher.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ops/state.h"
#include "tests/core/exec/small_model.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

class DispatcherTest : public testing::Test {
 protected:
  float scalar(const Tensor& tensor) { return dispatcher_.eager().download(tensor).values<float>()[0]; }
  Tensor add(const Tensor& a, const Tensor& b) {
    return dispatcher_.apply_one(std::make_shared<const Add>(), std::array{a, b});
  }

  Devices devices_{DeviceConfig{}};
  Runtime runtime_{devices_};
  Dispatcher dispatcher_{runtime_};
};

TEST_F(DispatcherTest, RunsAtOnceOutsideATrace) {
  const Tensor one = dispatcher_.constant(HostTensor::scalar(1.0F));
  EXPECT_EQ(scalar(add(one, one)), 2.0F);
}

TEST_F(DispatcherTest, TracesIntoAGraph) {
  const Tensor concrete = dispatcher_.constant(HostTensor::scalar(5.0F));
  const auto trace = dispatcher_.begin_trace();
  const Tensor input(trace, trace->graph.input({{}, Dtype::f32}, "x"));
  const Tensor sum = add(input, concrete);
  EXPECT_TRUE(sum.symbolic());
  dispatcher_.end_trace();

  const auto executor = make_executor(runtime_, std::move(trace->graph), {sum.value()});
  const HostTensor x = HostTensor::scalar(2.0F);
  const std::array inputs{x.view()};
  executor->run(inputs);
  EXPECT_EQ(executor->read(0).values<float>()[0], 7.0F);
}

TEST_F(DispatcherTest, VariablesAreTracedByReference) {
  const VariablePtr counter = runtime_.variables().create("counter", HostTensor::scalar(0.0F), {});
  const Tensor tensor = dispatcher_.variable(counter);
  const auto trace = dispatcher_.begin_trace();
  const Tensor one = dispatcher_.constant(HostTensor::scalar(1.0F));
  dispatcher_.apply_one(std::make_shared<const AssignAdd>(), std::array{tensor, one});
  dispatcher_.end_trace();
  const auto executor = make_executor(runtime_, std::move(trace->graph), {});
  executor->run({});
  executor->run({});
  EXPECT_EQ(scalar(tensor), 2.0F);
}

TEST_F(DispatcherTest, TracesIntoAnotherGraphDuringATrace) {
  const auto outer = dispatcher_.begin_trace();
  const Tensor outside(outer, outer->graph.input({{}, Dtype::f32}, "x"));
  Graph graph;
  const Value inside = graph.input({{}, Dtype::f32}, "y");
  {
    const GraphTrace trace(dispatcher_, graph);
    add(trace.tensor(inside), trace.tensor(inside));
    EXPECT_ERROR(testing::HasSubstr("a tensor of another traced function"), add(outside, outside));
    const TracePause pause(dispatcher_);
    EXPECT_FALSE(dispatcher_.constant(HostTensor::scalar(1.0F)).symbolic());
  }
  EXPECT_EQ(graph.nodes().size(), 2u);
  EXPECT_EQ(dispatcher_.trace(), outer);
  EXPECT_TRUE(add(outside, outside).symbolic());
  dispatcher_.end_trace();
}

TEST_F(DispatcherTest, CastsVariablesWhereATraceReadsThem) {
  const VariablePtr weight = runtime_.variables().create("weight", HostTensor::scalar(2.0F), {});
  const Tensor tensor = dispatcher_.variable(weight);
  Graph graph;
  const GraphTrace trace(dispatcher_, graph, Dtype::bf16);
  EXPECT_EQ(dispatcher_.dtype_of(tensor), Dtype::bf16);
  EXPECT_EQ(add(tensor, tensor).type().dtype, Dtype::bf16);
}

TEST_F(DispatcherTest, TracedValuesDoNotEscape) {
  const auto trace = dispatcher_.begin_trace();
  const Tensor input(trace, trace->graph.input({{}, Dtype::f32}, "x"));
  dispatcher_.end_trace();
  EXPECT_ERROR(testing::HasSubstr("a value of a traced function that has ended"), add(input, input));
}

TEST_F(DispatcherTest, CallsAGraphOnTensors) {
  const SmallModel model(runtime_);
  Graph graph;
  const Value input = graph.input({{SmallModel::batch, SmallModel::inputs}, Dtype::f32}, "x");
  const std::array outputs{model.forward(graph, input)};
  const HostTensor x = random_tensor({SmallModel::batch, SmallModel::inputs}, 3);
  const std::array arguments{dispatcher_.constant(x)};
  const HostTensor called = dispatcher_.eager().download(dispatcher_.apply(graph, arguments, outputs).front());

  const auto executor = make_executor(runtime_, std::move(graph), {outputs[0]});
  const std::array inputs{x.view()};
  executor->run(inputs);
  EXPECT_THAT(executor->read(0).values<float>(), testing::Pointwise(testing::FloatNear(1e-6F), called.values<float>()));
}

}  // namespace
}  // namespace gpubench
