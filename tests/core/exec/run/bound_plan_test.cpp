#include "core/exec/run/bound_plan.h"

#include <array>
#include <gtest/gtest.h>

#include "core/ops/elementwise.h"
#include "core/ops/shape_ops.h"

namespace gpubench {
namespace {

/// 2 (x + x).
Program small_program() {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input({{4}, Dtype::f32}, "x");
  const Value whole = ops::mul(graph, ops::add(graph, x, x), ops::broadcast_to(graph, graph.constant(2.0F), {4}));
  program.outputs = {whole};
  return program;
}

TEST(BoundPlan, PointingAPortMovesAllItsViews) {
  const Devices devices{DeviceConfig{}};
  const Plan plan = make_plan(small_program(), devices);
  BoundPlan bound(plan, devices, nullptr);
  std::array<std::byte, 256> arena{};
  bound.bind({.arenas = {arena.data()}, .host_arenas = {nullptr}});
  EXPECT_EQ(bound.pointed(0), nullptr);
  std::size_t add = 0;
  while (plan.steps[add].op != "add") ++add;

  std::array<float, 4> first{}, second{};
  for (std::array<float, 4>* const memory : {&first, &second}) {
    auto* const bytes = reinterpret_cast<std::byte*>(memory->data());
    bound.point(0, bytes);
    EXPECT_EQ(bound.pointed(0), bytes);
    for (const TensorView& view : bound.step(add).inputs) EXPECT_EQ(view.data, bytes);
  }
  const PlannedTensor& sum = plan.tensors[static_cast<std::size_t>(plan.steps[add].outputs[0])];
  ASSERT_EQ(sum.home, Home::arena);
  EXPECT_EQ(bound.step(add).outputs[0].data, arena.data() + plan.buffers[static_cast<std::size_t>(sum.index)].offset);
}

TEST(BoundPlan, ABufferThatIsAPortLiesWhereThatPoints) {
  const Devices devices{DeviceConfig{}};
  const Plan plan = make_plan(small_program(), devices);
  BoundPlan bound(plan, devices, nullptr);
  const PlannedTensor& output = plan.tensors[static_cast<std::size_t>(plan.outputs[0])];
  ASSERT_EQ(output.home, Home::arena);
  const std::size_t port = bound.add_port(static_cast<std::size_t>(output.index));
  std::array<std::byte, 256> arena{};
  bound.bind({.arenas = {arena.data()}, .host_arenas = {nullptr}});
  std::array<float, 4> given{};
  bound.point(port, reinterpret_cast<std::byte*>(given.data()));
  EXPECT_EQ(bound.view(plan.outputs[0]).data, reinterpret_cast<std::byte*>(given.data()));
  EXPECT_EQ(bound.step(plan.steps.size() - 1).outputs[0].data, reinterpret_cast<std::byte*>(given.data()));
}

}  // namespace
}  // namespace gpubench
