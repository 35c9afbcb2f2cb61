#include <cmath>
#include <gtest/gtest.h>
#include <memory>

#include "core/ops/loss.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::binary_cross_entropy_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

double loss(double p, double target) {
  return -(target * std::log(p) + (1 - target) * std::log(1 - p));
}

double loss_of_logit(double x, double target) {
  return std::max(x, 0.0) - x * target + std::log1p(std::exp(-std::abs(x)));
}

CaseInput targets(const Shape& shape) {
  return {.type = {shape, Dtype::f32}, .low = 0, .high = 1, .gradient = false};
}

OpCase forward_case(std::string name, const Shape& shape, bool from_logits, double low, double high) {
  return {.name = std::move(name),
          .op = std::make_shared<const BinaryCrossEntropy>(from_logits),
          .inputs = {CaseInput{.type = {shape, Dtype::f32}, .low = low, .high = high}, targets(shape)},
          .reference = [from_logits](std::span<const Array> in, std::span<Array> out) {
            for (std::int64_t i = 0; i < in[0].size(); ++i) {
              out[0][i] = from_logits ? loss_of_logit(in[0][i], in[1][i]) : loss(in[0][i], in[1][i]);
            }
          }};
}

OpCase gradient_case(std::string name, const Shape& shape, bool from_logits, double low, double high) {
  return {.name = std::move(name),
          .op = std::make_shared<const BinaryCrossEntropyGradient>(from_logits),
          .inputs = {CaseInput{.type = {shape, Dtype::f32}},
                     CaseInput{.type = {shape, Dtype::f32}, .low = low, .high = high}, targets(shape)},
          .reference =
              [from_logits](std::span<const Array> in, std::span<Array> out) {
                for (std::int64_t i = 0; i < in[0].size(); ++i) {
                  const double p = in[1][i], t = in[2][i];
                  out[0][i] = in[0][i] * (from_logits ? 1 / (1 + std::exp(-p)) - t : (p - t) / (p * (1 - p)));
                }
              },
          .differentiable = false};
}

std::vector<OpCase> binary_cross_entropy_cases() {
  return {
      forward_case("probabilities", {5, 7}, false, 0.05, 0.95),
      forward_case("logits", {5, 7}, true, -4, 4),
      forward_case("large_logits", {9}, true, -400, 400),
      forward_case("logits_on_threads", {200, 100}, true, -4, 4),
      gradient_case("probabilities_gradient", {5, 7}, false, 0.05, 0.95),
      gradient_case("logits_gradient", {5, 7}, true, -4, 4),
  };
}

GPUBENCH_OP_CASES(BinaryCrossEntropy, binary_cross_entropy_cases);

TEST(BinaryCrossEntropyTest, RefusesTargetsOfAnotherType) {
  Graph graph;
  const Value predictions = graph.input({{2, 3}, Dtype::f32}, "p");
  EXPECT_ERROR("binary_cross_entropy: the targets must be float32[2, 3], got float32[2]",
               ops::binary_cross_entropy(graph, predictions, graph.input({{2}, Dtype::f32}, "t"), true));
}

}  // namespace
}  // namespace gpubench::binary_cross_entropy_test
