#include "core/passes/recompute.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/gradients.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/random.h"
#include "core/ops/reduce.h"
#include "core/ops/state.h"
#include "core/passes/rewriter.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

bool drops_all(const Node&) {
  return true;
}

std::ptrdiff_t count(const Program& program, std::string_view op) {
  return std::ranges::count(op_names(program.graph), op);
}

/// mean(square(tanh(tanh(x w)))) and its gradient by w; `between` adds nodes before the second tanh.
struct Chain {
  explicit Chain(const std::function<Value(Graph&, Value)>& between = [](Graph&, Value y) { return y; }) {
    Graph& graph = program.graph;
    const Value x = graph.input({{4, 6}, Dtype::f32}, "x"), w = graph.input({{6, 5}, Dtype::f32}, "w");
    section.first = 2;
    const GraphScope scope(graph, "dense");
    const Value y = ops::tanh(graph, between(graph, ops::tanh(graph, ops::matmul(graph, x, w))));
    const Value loss = ops::reduce_mean(graph, ops::square(graph, y));
    section.middle = static_cast<std::int32_t>(graph.nodes().size());
    const std::array wanted{w};
    program.outputs = gradients(graph, loss, wanted);
    program.outputs.push_back(loss);
    section.last = static_cast<std::int32_t>(graph.nodes().size());
  }
  Program recomputed(const std::function<bool(const Node&)>& drops = &drops_all) {
    return remove_dead_code(recompute(std::move(program), std::span(&section, 1), drops));
  }
  Program program;
  GradientSection section;
};

TEST(RecomputeTest, GradientsReadCopies) {
  const Program program = Chain().recomputed();
  EXPECT_EQ(count(program, "matmul"), 3);  // forward, again, and the gradient by w
  EXPECT_EQ(count(program, "tanh"), 4);
  EXPECT_EQ(
      std::ranges::count_if(program.graph.nodes(), [](const Node& node) { return node.role == Role::recomputed; }), 3);
}

TEST(RecomputeTest, KeepsWhatIsNotDropped) {
  EXPECT_EQ(op_names(Chain().recomputed([](const Node&) { return false; }).graph),
            op_names(remove_dead_code(Chain().program).graph));
  const Program some = Chain().recomputed([](const Node& node) { return node.op->name() == "tanh"; });
  EXPECT_EQ(count(some, "matmul"), 2);
  EXPECT_EQ(count(some, "tanh"), 4);
}

TEST(RecomputeTest, GivesTheSameResults) {
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  std::vector<std::vector<float>> results;
  for (const bool again : {false, true}) {
    // What draws random numbers draws the same ones again.
    Chain chain([](Graph& graph, Value y) {
      return ops::dropout(graph, y, graph.constant(HostTensor::scalar<std::int64_t>(3)), 0.5, 7);
    });
    Program program = again ? chain.recomputed() : std::move(chain.program);
    const std::array values{random_values({{4, 6}, Dtype::f32}, 1), random_values({{6, 5}, Dtype::f32}, 2)};
    const std::array inputs{values[0].view(), values[1].view()};
    const auto executor = make_executor(runtime, std::move(program.graph), program.outputs);
    executor->run(inputs);
    const HostTensor slope = executor->read(0);
    results.emplace_back(slope.values<float>().begin(), slope.values<float>().end());
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(RecomputeTest, NeverRepeatsAnEffectNorWhatReadsAVariableThatChanges) {
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  const VariablePtr state = runtime.variables().create("state", HostTensor::zeros({{4, 5}, Dtype::f32}), {});
  const Program program = Chain([&](Graph& graph, Value y) {
                            const Value before = graph.variable(state);
                            const Value shifted = ops::mul(graph, y, ops::exp(graph, before));
                            ops::assign_add(graph, before, y);
                            return shifted;
                          }).recomputed();
  EXPECT_EQ(count(program, "assign_add"), 1);
  EXPECT_EQ(count(program, "exp"), 1) << "the variable is another by then";
}

}  // namespace
}  // namespace gpubench
