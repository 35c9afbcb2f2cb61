#include "core/ops/optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "core/base/error.h"
#include "tests/core/ops/update_case.h"
#include "tests/support/expect_error.h"

namespace gpubench::optimizer_test {
namespace {

using testing::Throws;

OpCase sgd_case(std::string name, SgdAttributes a) {
  const auto op = std::make_shared<const SgdUpdate>(a, static_cast<int>(shapes().size()));
  std::vector<CaseInput> inputs = a.momentum == 0 ? groups({rate}, {}) : groups({rate}, {{-1, 1}});
  return update_case(std::move(name), op, std::move(inputs),
                     [a](double lr, double, double& w, double g, double* slots) {
                       const double decayed = w - lr * a.weight_decay * w;
                       if (a.momentum == 0) {
                         w = decayed - lr * g;
                         return;
                       }
                       slots[0] = a.momentum * slots[0] - lr * g;
                       w = decayed + (a.nesterov ? a.momentum * slots[0] - lr * g : slots[0]);
                     });
}

OpCase adam_case(std::string name, AdamAttributes a) {
  const auto op = std::make_shared<const AdamUpdate>(a, static_cast<int>(shapes().size()));
  return update_case(std::move(name), op, groups({rate, step}, {{-1, 1}, {0, 1}}),
                     [a](double lr, double t, double& w, double g, double* slots) {
                       slots[0] = a.beta1 * slots[0] + (1 - a.beta1) * g;
                       slots[1] = a.beta2 * slots[1] + (1 - a.beta2) * g * g;
                       const double m = slots[0] / (1 - std::pow(a.beta1, t));
                       const double v = slots[1] / (1 - std::pow(a.beta2, t));
                       const double epsilon = a.epsilon / std::sqrt(1 - std::pow(a.beta2, t));  // Keras' epsilon hat
                       w -= lr * a.weight_decay * w + lr * m / (std::sqrt(v) + epsilon);
                     });
}

OpCase rmsprop_case(std::string name, RmspropAttributes a) {
  const auto op = std::make_shared<const RmspropUpdate>(a, static_cast<int>(shapes().size()));
  std::vector<CaseInput> inputs;
  const Range square{0.5, 1}, velocity{-1, 1}, mean{-0.5, 0.5};
  if (a.momentum != 0 && a.centered) inputs = groups({rate}, {square, velocity, mean});
  if (a.momentum != 0 && !a.centered) inputs = groups({rate}, {square, velocity});
  if (a.momentum == 0 && a.centered) inputs = groups({rate}, {square, mean});
  if (a.momentum == 0 && !a.centered) inputs = groups({rate}, {square});
  return update_case(std::move(name), op, std::move(inputs),
                     [a](double lr, double, double& w, double g, double* slots) {
                       slots[0] = a.rho * slots[0] + (1 - a.rho) * g * g;
                       double* const velocity_slot = slots + 1;
                       double* const mean_slot = slots + (a.momentum != 0 ? 2 : 1);
                       double variance = slots[0];
                       if (a.centered) {
                         *mean_slot = a.rho * *mean_slot + (1 - a.rho) * g;
                         variance -= *mean_slot * *mean_slot;
                       }
                       double change = lr * g / std::sqrt(variance + a.epsilon);
                       if (a.momentum != 0) change = *velocity_slot = a.momentum * *velocity_slot + change;
                       w -= lr * a.weight_decay * w + change;
                     });
}

/// Whole numbers, so that no step's direction is 0 but for rounding.
OpCase lion_case(std::string name, LionAttributes a) {
  const auto op = std::make_shared<const LionUpdate>(a, static_cast<int>(shapes().size()));
  std::vector<CaseInput> inputs = groups({rate}, {{-3, 3}});
  for (std::size_t i = 1 + shapes().size(); i < inputs.size(); ++i) {
    inputs[i].low = -3;
    inputs[i].high = 3;
    inputs[i].fill = support::whole_numbers;
  }
  return update_case(std::move(name), op, std::move(inputs),
                     [a](double lr, double, double& w, double g, double* slots) {
                       const double mixed = a.beta1 * slots[0] + (1 - a.beta1) * g;
                       w -= lr * a.weight_decay * w + lr * (mixed > 0 ? 1 : mixed < 0 ? -1 : 0);
                       slots[0] = a.beta2 * slots[0] + (1 - a.beta2) * g;
                     });
}

std::vector<OpCase> clipped_optimizer_cases() {
  const auto count = static_cast<int>(shapes().size());
  const GradientClip value{.value = 0.3}, each{.norm = 1}, all{.norm = 1, .global = true};
  return {
      clipped(sgd_case("", {}), "sgd_clipvalue",
              std::make_shared<const SgdUpdate>(SgdAttributes{}, count, false, value)),
      clipped(adam_case("", {}), "adam_clipnorm",
              std::make_shared<const AdamUpdate>(AdamAttributes{}, count, false, each)),
      clipped(adam_case("", {}), "adam_global_clipnorm",
              std::make_shared<const AdamUpdate>(AdamAttributes{}, count, false, all)),
      clipped(rmsprop_case("", {}), "rmsprop_global_clipnorm",
              std::make_shared<const RmspropUpdate>(RmspropAttributes{}, count, false, all)),
  };
}

/// Tensors of all floating types; one spans several partial sums.
OpCase squares_case(std::string name, bool of_all, Dtype dtype) {
  std::vector<CaseInput> inputs;
  for (const Shape& shape : shapes()) inputs.push_back({{shape, Dtype::f32}, -1, 1});
  inputs[0].type.dtype = dtype;
  inputs[3].type.dtype = dtype;
  const auto count = static_cast<int>(inputs.size());
  return {.name = std::move(name),
          .op = std::make_shared<const SumsOfSquares>(count, of_all),
          .inputs = std::move(inputs),
          .reference =
              [of_all](std::span<const Array> in, std::span<Array> out) {
                for (std::size_t i = 0; i < in.size(); ++i) {
                  for (const double x : in[i].values) out[0][of_all ? 0 : static_cast<std::int64_t>(i)] += x * x;
                }
              },
          .differentiable = false,
          .halves = false};
}

std::vector<OpCase> squares_cases() {
  return {squares_case("each", false, Dtype::f32), squares_case("all", true, Dtype::f32),
          squares_case("each_bfloat16", false, Dtype::bf16), squares_case("all_float16", true, Dtype::f16)};
}

/// float32 variables and slots, of which every second gradient is of 16 bits.
OpCase with_gradients_in(Dtype dtype, OpCase op_case) {
  const auto leading = static_cast<std::size_t>(dynamic_cast<const OptimizerUpdate&>(*op_case.op).leading());
  for (std::size_t i = 0; i < shapes().size(); i += 2) {
    CaseInput& gradient = op_case.inputs[leading + shapes().size() + i];
    gradient.type.dtype = dtype;
  }
  op_case.name += dtype == Dtype::bf16 ? "_bfloat16_gradients" : "_float16_gradients";
  op_case.halves = false;
  return op_case;
}

std::vector<OpCase> mixed_optimizer_cases() {
  return {with_gradients_in(Dtype::bf16, sgd_case("sgd", {})),
          with_gradients_in(Dtype::f16, sgd_case("sgd_nesterov", {.momentum = 0.9, .nesterov = true})),
          with_gradients_in(Dtype::bf16, adam_case("adam", {})),
          with_gradients_in(Dtype::f16, adam_case("adam", {.epsilon = 1e-3})),
          with_gradients_in(
              Dtype::bf16, rmsprop_case("rmsprop_centered_momentum", {.rho = 0.8, .momentum = 0.9, .centered = true}))};
}

/// Each kind of update in each type, in which a GPU has a kernel of its own.
std::vector<OpCase> optimizer_in_16_bits_cases() {
  std::vector<OpCase> cases;
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    for (OpCase& each : std::vector{
             sgd_case("sgd", {}), sgd_case("sgd_momentum", {.momentum = 0.9, .weight_decay = 0.1}),
             sgd_case("sgd_nesterov", {.momentum = 0.9, .nesterov = true}),
             adam_case("adam", {.epsilon = dtype == Dtype::f16 ? 1e-3 : 1e-7}), lion_case("lion", {.beta1 = 0.875}),
             rmsprop_case("rmsprop", {.epsilon = dtype == Dtype::f16 ? 1e-3 : 1e-7}),
             rmsprop_case("rmsprop_momentum", {.rho = 0.8, .momentum = 0.9}),
             rmsprop_case("rmsprop_centered", {.rho = 0.8, .centered = true}),
             rmsprop_case("rmsprop_centered_momentum", {.rho = 0.8, .momentum = 0.9, .centered = true})}) {
      each.name.append("_").append(to_string(dtype));
      cases.push_back(in(dtype, std::move(each)));
    }
  }
  return cases;
}

std::vector<OpCase> optimizer_cases() {
  const auto count = static_cast<int>(shapes().size());
  return {
      sgd_case("sgd", {}),
      sgd_case("sgd_decay", {.weight_decay = 0.1}),
      sgd_case("sgd_momentum", {.momentum = 0.9, .weight_decay = 0.1}),
      sgd_case("sgd_nesterov", {.momentum = 0.9, .nesterov = true, .weight_decay = 0.1}),
      adam_case("adam", {}),
      adam_case("adam_decay", {.beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-3, .weight_decay = 0.1}),
      lion_case("lion", {.beta1 = 0.875}),
      lion_case("lion_decay", {.beta1 = 0.875, .beta2 = 0.9, .weight_decay = 0.1}),
      rmsprop_case("rmsprop", {}),
      rmsprop_case("rmsprop_momentum", {.rho = 0.8, .momentum = 0.9}),
      rmsprop_case("rmsprop_centered", {.rho = 0.8, .centered = true}),
      rmsprop_case("rmsprop_centered_momentum", {.rho = 0.8, .momentum = 0.9, .centered = true}),
      rmsprop_case("rmsprop_decay", {.weight_decay = 0.1}),
      rmsprop_case("rmsprop_momentum_decay", {.momentum = 0.9, .weight_decay = 0.1}),
      rmsprop_case("rmsprop_centered_decay", {.centered = true, .weight_decay = 0.1}),
      rmsprop_case("rmsprop_centered_momentum_decay", {.momentum = 0.9, .centered = true, .weight_decay = 0.1}),
      with_flag(sgd_case("sgd", {}), std::make_shared<const SgdUpdate>(SgdAttributes{}, count, true), true),
      with_flag(adam_case("adam", {}), std::make_shared<const AdamUpdate>(AdamAttributes{}, count, true), true),
      with_flag(adam_case("adam", {}), std::make_shared<const AdamUpdate>(AdamAttributes{}, count, true), false),
      with_flag(rmsprop_case("rmsprop", {}), std::make_shared<const RmspropUpdate>(RmspropAttributes{}, count, true),
                true),
  };
}

GPUBENCH_OP_CASES(Optimizer, optimizer_cases);
GPUBENCH_OP_CASES(OptimizerIn16Bits, optimizer_in_16_bits_cases);
GPUBENCH_OP_CASES(OptimizerByGradientsOf16Bits, mixed_optimizer_cases);
GPUBENCH_OP_CASES(ClippedOptimizer, clipped_optimizer_cases);
GPUBENCH_OP_CASES(SumsOfSquares, squares_cases);

class OptimizerTest : public testing::Test {
 protected:
  Graph graph_;
  Value rate_ = graph_.input({{}, Dtype::f32}, "rate"), step_ = graph_.input({{}, Dtype::i64}, "step");
  Value w_ = graph_.input({{3}, Dtype::f32}, "w"), other_ = graph_.input({{4}, Dtype::f32}, "other");
  Value half_ = graph_.input({{3}, Dtype::f16}, "half");
};

TEST_F(OptimizerTest, UpdatesTakeVariablesGradientsAndSlotsOfOneType) {
  EXPECT_ERROR("sgd_update: there is no variable to update", ops::sgd_update(graph_, {}, rate_, {}, {}, {}));
  EXPECT_ERROR("sgd_update: the learning rate must be float32[], got int64[]",
               ops::sgd_update(graph_, {}, step_, {{w_}}, {{w_}}, {}));
  EXPECT_ERROR("sgd_update: the gradient must be float32[3], got float32[4]",
               ops::sgd_update(graph_, {}, rate_, {{w_}}, {{other_}}, {}));
  EXPECT_ERROR("sgd_update: the slot must be float32[3], got float32[4]",
               ops::sgd_update(graph_, {.momentum = 0.9}, rate_, {{w_}}, {{w_}}, {{other_}}));
  EXPECT_ERROR("sgd_update: takes 4 inputs, got 3",
               ops::sgd_update(graph_, {.momentum = 0.9}, rate_, {{w_}}, {{w_}}, {}));
  EXPECT_ERROR("sgd_update: variables are of one floating-point type, got float32[3] and float16[3]",
               ops::sgd_update(graph_, {}, rate_, {{w_, half_}}, {{w_, half_}}, {}));
  EXPECT_ERROR("adam_update: the step must be int64[], got float32[]",
               ops::adam_update(graph_, {}, rate_, rate_, {{w_}}, {{w_}}, {{w_}}, {{w_}}));
}

TEST_F(OptimizerTest, NormsAreLimitedBySumsOfSquares) {
  const ops::UpdateControl each{.found_infinity = {}, .clip = {.norm = 1}, .squares = rate_};
  EXPECT_ERROR("sgd_update: the sums of squares must be float32[1], got float32[]",
               ops::sgd_update(graph_, {}, rate_, {{w_}}, {{w_}}, {}, each));
  EXPECT_ERROR("sums_of_squares: there is no tensor to sum over", ops::sums_of_squares(graph_, {}, true));
  EXPECT_THAT([&] { ops::sums_of_squares(graph_, {{step_}}, true); }, Throws<Error>());
}

TEST_F(OptimizerTest, OutputsAreTheMemoryOfVariablesAndSlots) {
  const AdamUpdate adam({}, 2);
  EXPECT_TRUE(adam.has_effect());
  std::vector<int> inputs;
  for (const Alias& alias : adam.aliases()) {
    EXPECT_EQ(alias.kind, Alias::Kind::in_place);
    EXPECT_EQ(alias.output, static_cast<int>(inputs.size()));
    inputs.push_back(alias.input);
  }
  EXPECT_EQ(inputs, (std::vector{2, 3, 6, 7, 8, 9}));  // after rate and step; the gradients are 4 and 5
}

TEST_F(OptimizerTest, AttributesSayEverythingThatDecidesTheResult) {
  EXPECT_NE(SgdUpdate({.momentum = 0.9}, 1).attributes(),
            SgdUpdate({.momentum = 0.9, .nesterov = true}, 1).attributes());
  EXPECT_NE(AdamUpdate({.epsilon = 1e-7}, 1).attributes(), AdamUpdate({.epsilon = 1e-8}, 1).attributes());
  EXPECT_NE(RmspropUpdate({}, 1).attributes(), RmspropUpdate({.centered = true}, 1).attributes());
  EXPECT_NE(SgdUpdate({}, 1).attributes(), SgdUpdate({}, 2).attributes());
  EXPECT_NE(SgdUpdate({}, 1, false, {.value = 1}).attributes(), SgdUpdate({}, 1).attributes());
  EXPECT_NE(SgdUpdate({}, 1, false, {.norm = 1}).attributes(),
            SgdUpdate({}, 1, false, {.norm = 1, .global = true}).attributes());
  EXPECT_NE(SumsOfSquares(2, true).attributes(), SumsOfSquares(2, false).attributes());
}

}  // namespace
}  // namespace gpubench::optimizer_test
