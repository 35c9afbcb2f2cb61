#include "core/ops/loss_scale.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <memory>

#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::loss_scale_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Puts `value` into the middle of what was drawn.
auto with(double value) {
  return [value](Array& array, std::mt19937_64&) { array[array.size() / 2] = value; };
}

OpCase unscale_case(std::string name, std::vector<CaseInput> gradients) {
  const auto op = std::make_shared<const Unscale>(static_cast<int>(gradients.size()));
  OpCase result{.name = std::move(name),
                .op = op,
                .inputs = std::move(gradients),
                .reference =
                    [](std::span<const Array> in, std::span<Array> out) {
                      for (std::size_t n = 1; n < in.size(); ++n) {
                        for (std::int64_t i = 0; i < in[n].size(); ++i) {
                          out[n - 1][i] = in[n][i] / in[0][0];
                          if (!std::isfinite(static_cast<float>(out[n - 1][i]))) out.back()[0] = 1;
                        }
                      }
                    },
                .differentiable = false,
                .halves = false};
  result.inputs.insert(result.inputs.begin(),
                       {.type = {{}, Dtype::f32}, .fill = [](Array& scale, std::mt19937_64&) { scale[0] = 1024; }});
  return result;
}

OpCase rule_case(std::string name, double scale, double good_steps, bool found) {
  const auto always = [](double value) { return [value](Array& array, std::mt19937_64&) { array[0] = value; }; };
  return {.name = std::move(name),
          .op = std::make_shared<const LossScaleUpdate>(2, 2000),
          .inputs = {{.type = {{}, Dtype::f32}, .fill = always(scale)},
                     {.type = {{}, Dtype::i64}, .fill = always(good_steps)},
                     {.type = {{}, Dtype::boolean}, .fill = always(found ? 1 : 0)}},
          .reference =
              [](std::span<const Array> in, std::span<Array> out) {
                const bool grows = in[1][0] + 1 == 2000 && in[0][0] < 1e38;
                out[0][0] = in[2][0] != 0 ? std::max(in[0][0] / 2, 1.0) : in[0][0] * (grows ? 2 : 1);
                out[1][0] = in[2][0] != 0 || in[1][0] + 1 == 2000 ? 0 : in[1][0] + 1;
              },
          .differentiable = false,
          .halves = false};
}

std::vector<OpCase> loss_scale_cases() {
  const CaseInput large{.type = {{130, 901}, Dtype::f32}}, row{.type = {{7}, Dtype::f32}};
  const CaseInput half{.type = {{33, 7}, Dtype::f16}}, brain{.type = {{41}, Dtype::bf16}};
  CaseInput infinite = large, not_a_number = half, minus = brain, overflowing = row;
  infinite.fill = with(infinity);
  not_a_number.fill = with(std::nan(""));
  minus.fill = with(-infinity);
  overflowing.fill = with(70000);
  overflowing.type.dtype = Dtype::f16;
  std::vector<CaseInput> many(70, row);
  many.back() = half;
  return {
      unscale_case("unscale", {large, row, half, brain, {.type = {{0}, Dtype::f32}}}),
      unscale_case("unscale_one", {row}),
      unscale_case("unscale_more_than_a_launch_holds", many),
      unscale_case("finds_infinity", {row, infinite, half}),
      unscale_case("finds_what_is_not_a_number", {large, not_a_number}),
      unscale_case("finds_minus_infinity", {minus, large}),
      unscale_case("finds_overflow_of_float16", {large, overflowing}),
      rule_case("scale_stays", 32768, 7, false),
      rule_case("scale_doubles", 32768, 1999, false),
      rule_case("scale_halves", 32768, 1999, true),
      rule_case("scale_does_not_fall_below_one", 1.5, 3, true),
      rule_case("scale_does_not_become_infinite", 3e38, 1999, false),
  };
}

GPUBENCH_OP_CASES(LossScale, loss_scale_cases);

TEST(LossScaleTest, RefusesWhatMakesNoSense) {
  Graph graph;
  const Value scale = graph.input({{}, Dtype::f32}, "scale"), steps = graph.input({{}, Dtype::i64}, "steps");
  const Value flag = graph.input({{}, Dtype::boolean}, "flag");
  EXPECT_ERROR("unscale: there is no gradient to unscale", ops::unscale(graph, scale, {}));
  EXPECT_ERROR("unscale: the loss scale must be float32[], got int64[]", ops::unscale(graph, steps, {{scale}}));
  EXPECT_ERROR("unscale: int64[] is not floating-point; cast it to float32", ops::unscale(graph, scale, {{steps}}));
  EXPECT_ERROR("loss_scale_update: the flag must be bool[], got int64[]",
               ops::loss_scale_update(graph, scale, steps, steps));
  EXPECT_ERROR(
      "loss_scale_update: the factor must be above 1 and the growth interval at least 1 "
      "step, got 1 and 0",
      ops::loss_scale_update(graph, scale, steps, flag, 1, 0));
}

TEST(LossScaleTest, TheScaleAndItsCountAreState) {
  EXPECT_TRUE(LossScaleUpdate(2, 2000).has_effect());
  EXPECT_FALSE(Unscale(3).has_effect());
  EXPECT_NE(LossScaleUpdate(2, 2000).attributes(), LossScaleUpdate(2, 1000).attributes());
}

}  // namespace
}  // namespace gpubench::loss_scale_test
