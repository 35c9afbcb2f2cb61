// Steps that depend on variables alone run when those have been written to, and at no other time.
#include <array>
#include <cstring>
#include <gtest/gtest.h>

#include "core/exec/eager.h"
#include "core/exec/executor.h"
#include "core/ops/elementwise.h"
#include "core/ops/state.h"

namespace gpubench {
namespace {

class ChangedSteps : public ::testing::Test {
 protected:
  static HostTensor vector_of(float value) {
    const std::array values{value, value, value};
    return HostTensor::of<float>({3}, values);
  }

  ChangedSteps() : w(runtime.variables().create("w", vector_of(2), {})) {
    Graph graph;
    const Value x = graph.input({{3}, Dtype::f32}, "x");
    const Value square = ops::mul(graph, graph.variable(w), graph.variable(w));
    squares = make_executor(runtime, std::move(graph), {ops::mul(graph, x, square)}, without_fusion());
  }

  /// Fused into the product with x, the square would be due in every run.
  static ExecutorOptions without_fusion() {
    ExecutorOptions options;
    options.passes.disabled.insert("fuse_elementwise");
    return options;
  }

  float square() {
    const HostTensor one = vector_of(1);
    squares->run(std::array{one.view()});
    return squares->read(0).values<float>()[0];
  }

  Devices devices{DeviceConfig{}};
  Runtime runtime{devices};
  VariablePtr w;
  std::unique_ptr<Executor> squares;
};

TEST_F(ChangedSteps, AreNotPartOfARun) {
  EXPECT_EQ(squares->facts().kernels, 1u);
  EXPECT_EQ(squares->facts().flops, 3);
}

TEST_F(ChangedSteps, RunWhenAVariableWasWrittenTo) {
  EXPECT_EQ(square(), 4);
  runtime.variables().write(*w, vector_of(3));
  EXPECT_EQ(square(), 9);
}

TEST_F(ChangedSteps, DoNotRunWhereNobodyWrote) {
  EXPECT_EQ(square(), 4);
  const HostTensor three = vector_of(3);
  std::memcpy(runtime.variables().view(*w).data, three.data(), three.bytes());  // behind everybody's back
  EXPECT_EQ(square(), 4);
}

TEST_F(ChangedSteps, RunAfterAnotherExecutorUpdatedTheVariable) {
  for (const Execution execution : {Execution::graph, Execution::eager}) {
    runtime.variables().write(*w, vector_of(2));
    Graph graph;
    ops::assign_add(graph, graph.variable(w), graph.variable(w));
    ExecutorOptions options;
    options.execution = execution;
    const auto doubling = make_executor(runtime, std::move(graph), {}, options);
    EXPECT_EQ(square(), 4);
    doubling->run({});
    EXPECT_EQ(square(), 16);
    doubling->run_again();
    EXPECT_EQ(square(), 64);
  }
}

TEST_F(ChangedSteps, RunAfterAnEagerOpUpdatedTheVariable) {
  Eager eager(runtime);
  EXPECT_EQ(square(), 4);
  const std::array inputs{eager.of(w), eager.upload(vector_of(5), {})};
  eager.apply(std::make_shared<const AssignAdd>(), inputs, {}, "update");
  EXPECT_EQ(square(), 49);
}

TEST_F(ChangedSteps, WhatTheGraphItselfUpdatesIsComputedInEveryRun) {
  Graph graph;
  const Value before = ops::mul(graph, graph.variable(w), graph.variable(w));
  ops::assign_add(graph, graph.variable(w), graph.variable(w));
  const auto executor = make_executor(runtime, std::move(graph), {before});
  for (const float expected : {4.0F, 16.0F, 64.0F}) {
    executor->run({});
    EXPECT_EQ(executor->read(0).values<float>()[0], expected);
  }
}

TEST_F(ChangedSteps, CountsGoOnWhenASlotIsUsedAgain) {
  VariableStore& store = runtime.variables();
  VariablePtr one = store.create("one", vector_of(1), {});
  const std::uint64_t writes = store.writes(*one);
  const std::int32_t slot = one->index;
  one = nullptr;
  const VariablePtr other = store.create("other", vector_of(1), {});
  ASSERT_EQ(other->index, slot);
  EXPECT_GT(store.writes(*other), writes);
}

}  // namespace
}  // namespace gpubench
