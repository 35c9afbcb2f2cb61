// The rules of RuleUpdate on both backends, against formulas in double precision.
#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>

#include "tests/core/ops/update_case.h"
#include "tests/support/expect_error.h"

namespace gpubench::optimizer_test {
namespace {

/// What cases of nadam have as the product of momentums.
constexpr double momentum_product = 0.3;

/// The rules of RuleUpdate, in double precision.
Update reference_of(const RuleAttributes& a) {
  return [a](double lr, double t, double& w, double g, double* slots) {
    const double decayed = w - lr * a.weight_decay * w;
    const auto average = [&](double& of, double beta, double x) { of = beta * of + (1 - beta) * x; };
    switch (a.rule) {
      case UpdateRule::average: {
        const bool now = std::fmod(t, static_cast<double>(a.every)) == 0;
        const double averaging = t == 1 ? 0 : a.beta1, kept = a.every == 0 ? averaging : now ? 0 : 1;
        w = kept * w + (1 - kept) * g;
        return;
      }
      case UpdateRule::adagrad:
        slots[0] += g * g;
        w = decayed - lr * g / std::sqrt(slots[0] + a.epsilon);
        return;
      case UpdateRule::adadelta: {
        average(slots[0], a.beta1, g * g);
        const double change = std::sqrt(slots[1] + a.epsilon) / std::sqrt(slots[0] + a.epsilon) * g;
        average(slots[1], a.beta1, change * change);
        w = decayed - lr * change;
        return;
      }
      case UpdateRule::adamax:
        average(slots[0], a.beta1, g);
        slots[1] = std::max(a.beta2 * slots[1], std::abs(g));
        w = decayed - lr / (1 - std::pow(a.beta1, t)) * slots[0] / (slots[1] + a.epsilon);
        return;
      case UpdateRule::nadam: {
        average(slots[0], a.beta1, g);
        average(slots[1], a.beta2, g * g);
        const double now = a.beta1 * (1 - 0.5 * std::pow(0.96, t)), next = a.beta1 * (1 - 0.5 * std::pow(0.96, t + 1));
        const double m = next * slots[0] / (1 - momentum_product * next) + (1 - now) * g / (1 - momentum_product);
        w = decayed - lr * m / (std::sqrt(slots[1] / (1 - std::pow(a.beta2, t))) + a.epsilon);
        return;
      }
      case UpdateRule::amsgrad:
        average(slots[0], a.beta1, g);
        average(slots[1], a.beta2, g * g);
        slots[2] = std::max(slots[2], slots[1]);
        const double rate = lr * std::sqrt(1 - std::pow(a.beta2, t)) / (1 - std::pow(a.beta1, t));
        w = decayed - rate * slots[0] / (std::sqrt(slots[2]) + a.epsilon);
    }
  };
}

OpCase rule_case(std::string name, const RuleAttributes& a) {
  const auto op = std::make_shared<const RuleUpdate>(a, static_cast<int>(shapes().size()));
  const Range square{0.5, 1}, average{-1, 1};
  std::vector<CaseInput> inputs{rate, step};
  if (op->multiplies_momentum()) inputs.push_back({{{}, Dtype::f32}, momentum_product, momentum_product});
  if (op->slots() == 0) inputs = groups(std::move(inputs), {});
  if (op->slots() == 1) inputs = groups(std::move(inputs), {square});
  const bool squares_first = a.rule == UpdateRule::adadelta;
  if (op->slots() == 2) inputs = groups(std::move(inputs), {squares_first ? square : average, square});
  if (op->slots() == 3) inputs = groups(std::move(inputs), {average, square, square});
  return update_case(std::move(name), op, std::move(inputs), reference_of(a));
}

/// One of each rule.
std::vector<OpCase> rule_cases() {
  return {rule_case("adagrad", {.rule = UpdateRule::adagrad}),
          rule_case("adadelta", {.rule = UpdateRule::adadelta, .beta1 = 0.95, .epsilon = 1e-3}),
          rule_case("adamax", {.rule = UpdateRule::adamax, .epsilon = 1e-3}),
          rule_case("nadam", {.rule = UpdateRule::nadam, .epsilon = 1e-3}),
          rule_case("amsgrad", {.rule = UpdateRule::amsgrad, .epsilon = 1e-3}),
          rule_case("average", {.rule = UpdateRule::average, .beta1 = 0.99})};
}

std::vector<OpCase> all_rule_cases() {
  const auto count = static_cast<int>(shapes().size());
  std::vector<OpCase> cases = rule_cases();
  for (const UpdateRule rule :
       {UpdateRule::adagrad, UpdateRule::adadelta, UpdateRule::adamax, UpdateRule::nadam, UpdateRule::amsgrad}) {
    RuleAttributes a{.rule = rule, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-3, .weight_decay = 0.1};
    const std::string name(RuleUpdate(a, 1).name());
    cases.push_back(rule_case(name + "_decay", a));
  }
  for (const std::int64_t every : {1, 1000}) {
    cases.push_back(
        rule_case("overwrite_every_" + std::to_string(every), {.rule = UpdateRule::average, .every = every}));
  }
  const RuleAttributes nadam{.rule = UpdateRule::nadam, .epsilon = 1e-3};
  for (const bool skipped : {true, false}) {
    const auto op = std::make_shared<const RuleUpdate>(nadam, count, true);
    cases.push_back(with_flag(rule_case("nadam", nadam), op, skipped));
  }
  cases.push_back(clipped(rule_case("", nadam), "nadam_clipnorm",
                          std::make_shared<const RuleUpdate>(nadam, count, false, GradientClip{.norm = 1})));
  return cases;
}

std::vector<OpCase> rule_in_16_bits_cases() {
  std::vector<OpCase> cases;
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    for (OpCase& each : rule_cases()) {
      each.name.append("_").append(to_string(dtype));
      cases.push_back(in(dtype, std::move(each)));
    }
  }
  return cases;
}

GPUBENCH_OP_CASES(OptimizerRules, all_rule_cases);
GPUBENCH_OP_CASES(OptimizerRulesIn16Bits, rule_in_16_bits_cases);

TEST(OptimizerRules, ReadTheScalarsOfTheStep) {
  Graph graph;
  const Value rate = graph.input({{}, Dtype::f32}, "rate"), step = graph.input({{}, Dtype::i64}, "step");
  const Value w = graph.input({{3}, Dtype::f32}, "w");
  const std::array slots{std::vector{w}, std::vector{w}};
  const RuleAttributes nadam{.rule = UpdateRule::nadam};
  const std::vector without_product{rate, step}, wrong_product{rate, step, step};
  EXPECT_ERROR("nadam_update: takes 7 inputs, got 6",
               ops::rule_update(graph, nadam, without_product, {{w}}, {{w}}, slots));
  EXPECT_ERROR("nadam_update: the product of momentums must be float32[], got int64[]",
               ops::rule_update(graph, nadam, wrong_product, {{w}}, {{w}}, slots));
}

TEST(OptimizerRules, AttributesSayEverythingThatDecidesTheResult) {
  EXPECT_NE(RuleUpdate({.every = 2}, 1).attributes(), RuleUpdate({.every = 3}, 1).attributes());
  EXPECT_NE(RuleUpdate({.rule = UpdateRule::nadam}, 1).name(), RuleUpdate({.rule = UpdateRule::adamax}, 1).name());
}

}  // namespace
}  // namespace gpubench::optimizer_test
