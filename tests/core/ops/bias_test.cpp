#include "core/ops/bias.h"

#include <gtest/gtest.h>
#include <memory>

#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::bias_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

OpCase add_case(std::string name, Shape shape) {
  return {.name = std::move(name),
          .op = std::make_shared<const BiasAdd>(),
          .inputs = {CaseInput{.type = {shape, Dtype::f32}}, CaseInput{.type = {{shape.back()}, Dtype::f32}}},
          .reference = [](std::span<const Array> in, std::span<Array> out) {
            for (std::int64_t i = 0; i < in[0].size(); ++i) out[0][i] = in[0][i] + in[1][i % in[1].size()];
          }};
}

OpCase gradient_case(std::string name, Shape shape) {
  return {.name = std::move(name),
          .op = std::make_shared<const BiasGradient>(),
          .inputs = {CaseInput{.type = {std::move(shape), Dtype::f32}}},
          .reference = [](std::span<const Array> in, std::span<Array> out) {
            for (std::int64_t i = 0; i < in[0].size(); ++i) out[0][i % out[0].size()] += in[0][i];
          }};
}

std::vector<OpCase> bias_cases() {
  return {add_case("add", {4, 5}),
          add_case("add_to_images", {2, 3, 3, 7}),
          add_case("add_to_one_row", {6}),
          add_case("add_on_threads", {300, 130}),
          add_case("add_by_four", {7, 12}),
          add_case("add_by_eight", {7, 16}),
          add_case("add_to_nothing", {0, 4}),
          gradient_case("gradient", {4, 5}),
          gradient_case("gradient_of_images", {2, 3, 3, 7}),
          gradient_case("gradient_of_nothing", {0, 4}),
          gradient_case("gradient_on_threads", {700, 130})};
}

GPUBENCH_OP_CASES(Bias, bias_cases);

TEST(BiasTest, RefusesABiasOfAnotherWidth) {
  Graph graph;
  const Value x = graph.input({{2, 3}, Dtype::f32}, "x"), bias = graph.input({{4}, Dtype::f32}, "bias");
  EXPECT_ERROR("bias_add: the bias must be float32[3], got float32[4]", ops::bias_add(graph, x, bias));
  EXPECT_ERROR("bias_gradient: the input must be [..., channels], got a scalar",
               ops::bias_gradient(graph, graph.input({{}, Dtype::f32}, "x")));
}

}  // namespace
}  // namespace gpubench::bias_test
