#include "core/ops/elementwise_chain.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "core/ops/bias.h"
#include "core/ops/elementwise.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::elementwise_chain_test {
namespace {

using math::Function;
using support::Array;
using support::CaseInput;
using support::floats;
using support::OpCase;
using testing::HasSubstr;

double apply(Function function, double a, double b) {
  switch (function) {
    case Function::neg:
      return -a;
    case Function::square:
      return a * a;
    case Function::exp:
      return std::exp(a);
    case Function::tanh:
      return std::tanh(a);
    case Function::relu:
      return std::max(a, 0.0);
    case Function::relu_gradient:
      return b > 0 ? a : 0;
    case Function::add:
      return a + b;
    case Function::sub:
      return a - b;
    case Function::mul:
      return a * b;
    case Function::div:
      return a / b;
    case Function::maximum:
      return std::max(a, b);
    default:
      ADD_FAILURE() << "the reference has no such function";
      return 0;
  }
}

OpCase chain_case(std::string name, std::vector<CaseInput> inputs, std::vector<ChainStep> steps,
                  Dtype dtype = Dtype::f32) {
  return {.name = std::move(name),
          .op = std::make_shared<const ElementwiseChain>(steps, dtype, static_cast<double>(steps.size())),
          .inputs = std::move(inputs),
          .reference =
              [steps](std::span<const Array> in, std::span<Array> out) {
                for (std::int64_t i = 0; i < out[0].size(); ++i) {
                  const auto read = [&](std::size_t n) {
                    return in[n][support::broadcast_offset(i, out[0].type.shape, in[n].type.shape)];
                  };
                  double value = read(0);
                  for (const ChainStep& step : steps) {
                    const double operand = step.operand >= 0 ? read(static_cast<std::size_t>(step.operand)) : 0;
                    value = apply(step.function, step.reversed ? operand : value, step.reversed ? value : operand);
                  }
                  out[0][i] = value;
                }
              },
          .differentiable = false};
}

std::vector<OpCase> chain_cases() {
  const std::vector<ChainStep> affine{{Function::mul, 1}, {Function::add, 2}, {Function::tanh}};
  const std::vector<ChainStep> normalize{{Function::sub, 1}, {Function::mul, 2}, {Function::square}};
  return {
      chain_case("one_block", {floats({5, 37}), floats({5, 37}), floats({5, 37})}, affine),
      chain_case("many_blocks", {floats({41, 1001}), floats({41, 1001}), floats({41, 1001})}, affine),
      chain_case("scalars", {floats({67}), floats({}), floats({1})}, affine),
      chain_case("starts_with_scalar", {floats({}), floats({2100}), floats({1})}, affine),
      chain_case("lone_number", {floats({}), floats({}), floats({})}, affine),
      chain_case("rows", {floats({3, 50, 12}), floats({12}), floats({50, 12})}, affine),
      chain_case("rows_longer_than_a_block", {floats({4, 3001}), floats({3001}), floats({1, 3001})}, affine),
      chain_case("odd_rows", {floats({300, 7}), floats({7}), floats({1, 7})}, affine),
      chain_case("columns", {floats({60, 33}), floats({60, 1}), floats({60, 1})}, normalize),
      chain_case("long_columns", {floats({5, 5000}), floats({5, 1}), floats({1, 1})}, normalize),
      chain_case("middle", {floats({3, 10, 40}), floats({10, 1}), floats({1, 10, 1})}, normalize),
      chain_case("reversed", {floats({70}, 0.5, 1), floats({70}), floats({})},
                 {{Function::div, 1, true}, {Function::sub, 2, true}, {Function::exp}}),
      chain_case("reads_an_input_twice", {floats({70}), floats({70})},
                 {{Function::mul, 0}, {Function::maximum, 1}, {Function::add, 1}}),
      chain_case("gradients", {floats({9, 20}), floats({9, 20}), floats({20})},
                 {{Function::relu_gradient, 1}, {Function::mul, 2}, {Function::neg}}),
      chain_case("bytes_to_floats", {{{{6, 31}, Dtype::u8}, 0, 255}, floats({}, 0.003, 0.004), floats({31})}, affine),
      chain_case("integers", {{{{6, 31}, Dtype::i32}, -9, 9}, {{{31}, Dtype::i64}, -9, 9}, {{{}, Dtype::boolean}}},
                 {{Function::mul, 1}, {Function::add, 2}, {Function::relu}}),
      chain_case("to_half", {floats({1030}), floats({1030}), floats({})}, affine, Dtype::f16),
      chain_case("to_bfloat16", {floats({3, 20}), floats({20}), floats({3, 1})}, affine, Dtype::bf16),
      chain_case("converts_alone", {floats({1030})}, {}, Dtype::bf16),
      chain_case("no_element", {floats({0, 4}), floats({4}), floats({})}, affine),
  };
}

GPUBENCH_OP_CASES(ElementwiseChain, chain_cases);

TEST(ElementwiseChainTest, SaysWhatItComputes) {
  const ElementwiseChain chain({{Function::sub, 1, true}, {Function::exp}, {Function::mul, 0}}, Dtype::f16, 3);
  EXPECT_EQ(chain.attributes(), "sub(#1, x) exp(x) mul(x, #0) dtype=float16");
  const std::array types{TensorType{{7}, Dtype::f16}};
  EXPECT_EQ(chain.flops(types, types), 21);
}

TEST(ElementwiseChainTest, FunctionsAreThoseOfOps) {
  EXPECT_EQ(ops::function_of(Tanh()), Function::tanh);
  EXPECT_EQ(ops::function_of(BiasAdd()), Function::add);
  EXPECT_EQ(ops::function_of(GeluGradient()), Function::gelu_gradient);
  EXPECT_EQ(ops::function_of(Less()), std::nullopt);
}

TEST(ElementwiseChainTest, StretchesInOnePlace) {
  EXPECT_EQ(ops::stretch_of({4, 5}, {4, 5}), (Stretch{1, 20}));
  EXPECT_EQ(ops::stretch_of({}, {4, 5}), (Stretch{20, 1}));
  EXPECT_EQ(ops::stretch_of({5}, {2, 4, 5}), (Stretch{1, 5}));
  EXPECT_EQ(ops::stretch_of({4, 1}, {2, 4, 5}), (Stretch{5, 4}));
  EXPECT_EQ(ops::stretch_of({2, 1, 1}, {2, 1, 5}), (Stretch{5, 2}));
  EXPECT_EQ(ops::stretch_of({2, 1, 5}, {2, 4, 5}), std::nullopt);
  EXPECT_EQ(ops::stretch_of({3}, {2, 4, 5}), std::nullopt);
}

TEST(ElementwiseChainTest, RefusesWhatItHasNoWordFor) {
  const ElementwiseChain chain({{Function::add, 1}}, Dtype::f32, 1);
  const std::vector<TensorType> split{{{2, 4, 5}, Dtype::f32}, {{2, 1, 5}, Dtype::f32}};
  EXPECT_ERROR(HasSubstr("elementwise_chain: float32[2, 1, 5] stretches to float32[2, 4, 5] in more "
                         "than one place; join fewer ops"),
               chain.infer(split));
  EXPECT_ERROR("elementwise_chain: takes 1 to 8 inputs and at most 16 steps, got 0 and 1", chain.infer({}));
  EXPECT_ERROR("elementwise_chain: a step reads input 1 of 1", chain.infer(std::span(split).first(1)));
  EXPECT_ERROR(HasSubstr("is not floating-point"), ElementwiseChain({}, Dtype::i32, 0).infer(split));
}

}  // namespace
}  // namespace gpubench::elementwise_chain_test
