#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/gradients.h"
#include "core/ops/batch_norm.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/reduce.h"
#include "core/passes/pass.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

using testing::Contains;
using testing::Not;

constexpr float epsilon = 1e-3F;

enum class Shortcut : std::uint8_t { none, before, behind, normalized };

/// Loss of a normalized product with relu, to which a shortcut may be added, and its gradients by all inputs.
Program block(Shortcut shortcut, Dtype dtype = Dtype::f32) {
  Program program;
  Graph& graph = program.graph;
  const auto input = [&](Shape shape, const char* name) { return graph.input({std::move(shape), Dtype::f32}, name); };
  const Value x = input({40, 6}, "x"), w = input({6, 24}, "w"), s = input({40, 24}, "s");
  const Value gamma = input({24}, "gamma"), beta = input({24}, "beta");
  const auto narrow = [&](Value value) { return ops::cast(graph, value, dtype); };
  Value other = narrow(s);
  if (shortcut == Shortcut::normalized) other = ops::batch_norm(graph, other, gamma, beta, epsilon);
  const Value norm = ops::batch_norm(graph, narrow(ops::matmul(graph, x, w)), gamma, beta, epsilon);
  if (shortcut == Shortcut::behind) other = ops::tanh(graph, other);
  const Value sum = shortcut == Shortcut::none ? norm : ops::add(graph, norm, other);
  const Value y = ops::cast(graph, ops::relu(graph, sum), Dtype::f32);
  const Value loss =
      ops::add(graph, ops::reduce_mean(graph, ops::square(graph, ops::matmul(graph, y, w, {.transpose_b = true}))),
               ops::reduce_mean(graph, ops::mul(graph, y, s)));
  const std::array wanted{x, w, gamma, beta, s};
  program.outputs = gradients(graph, loss, wanted);
  program.outputs.push_back(loss);
  program.outputs.push_back({norm.node, 1});
  program.outputs.push_back({norm.node, 2});
  return program;
}

std::vector<std::string> names_of_block(Program program, const Fuses& fuses = &fuses_all) {
  return op_names(apply_passes(std::move(program), {{"fuse_elementwise"}}, {.fuses = fuses}).graph);
}

TEST(FuseBatchNorm, ReluIsPartOfTheNormalizationAndItsGradient) {
  const auto names = names_of_block(block(Shortcut::none));
  EXPECT_THAT(names, Not(Contains("relu")));
  EXPECT_THAT(names, Not(Contains("relu_gradient")));
}

TEST(FuseBatchNorm, AShortcutIsAddedOnTheWay) {
  for (const Shortcut shortcut : {Shortcut::before, Shortcut::normalized}) {
    const auto names = names_of_block(block(shortcut));
    EXPECT_THAT(names, Not(Contains("relu")));
    EXPECT_THAT(names, Not(Contains("relu_gradient")));
  }
}

TEST(FuseBatchNorm, LeavesAShortcutThatIsComputedLater) {
  EXPECT_THAT(names_of_block(block(Shortcut::behind)), Contains("relu"));
}

TEST(FuseBatchNorm, GivesTheSameResults) {
  for (const Shortcut shortcut : {Shortcut::none, Shortcut::before, Shortcut::behind, Shortcut::normalized}) {
    expect_equal_results(
        "fuse_batch_norm", [&] { return block(shortcut); }, 1e-5F, &fuses_all);
    expect_equal_results(
        "fuse_batch_norm", [&] { return block(shortcut, Dtype::bf16); }, 2e-2F, &fuses_all);
  }
}

TEST(FuseBatchNorm, NeedsADeviceThatHasIt) {
  EXPECT_THAT(names_of_block(block(Shortcut::none), {}), Contains("relu"));
  const auto only_normalization = [](const DeviceId&, const Op& op, TensorTypes) {
    return dynamic_cast<const BatchNorm*>(&op) != nullptr;
  };
  const auto names = names_of_block(block(Shortcut::none), only_normalization);
  EXPECT_THAT(names, Not(Contains("relu")));
  EXPECT_THAT(names, Contains("relu_gradient"));
}

TEST(FuseBatchNorm, LeavesWhatOthersRead) {
  Program program;
  Graph& graph = program.graph;
  const auto input = [&](Shape shape, const char* name) { return graph.input({std::move(shape), Dtype::f32}, name); };
  const Value x = input({4, 6}, "x"), gamma = input({6}, "gamma"), beta = input({6}, "beta");
  const Value y = ops::batch_norm(graph, x, gamma, beta, epsilon);
  program.outputs = {ops::relu(graph, y), y};
  EXPECT_THAT(op_names(fuse_batch_norm(std::move(program), &fuses_all).graph), Contains("relu"));
}

}  // namespace
}  // namespace gpubench
