#include "core/ops/measured_cross_entropy.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::measured_cross_entropy_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

/// The losses, probabilities and ranks of labels (one-hot, or class indices).
struct Rows {
  Rows(const Array& logits, const Array& labels)
      : classes(logits.type.shape.back()), count(logits.size() / classes), sparse(labels.type.dtype != Dtype::f32) {
    for (std::int64_t i = 0; i < logits.size(); ++i) {
      weights.push_back(!sparse ? labels[i] : labels[i / classes] == static_cast<double>(i % classes) ? 1 : 0);
    }
    for (std::int64_t row = 0; row < count; ++row) add(logits, row * classes);
  }
  void add(const Array& logits, std::int64_t first) {
    double largest = logits[first], sum = 0, loss = 0;
    std::int64_t label = first, rank = 0;
    for (std::int64_t i = first; i < first + classes; ++i) largest = std::max(largest, logits[i]);
    for (std::int64_t i = first; i < first + classes; ++i) sum += std::exp(logits[i] - largest);
    for (std::int64_t i = first; i < first + classes; ++i) {
      probabilities.push_back(std::exp(logits[i] - largest) / sum);
      loss -= weight(i) * (logits[i] - largest - std::log(sum));
      if (weight(i) > weight(label)) label = i;
    }
    for (std::int64_t i = first; i < first + classes; ++i) rank += logits[i] > logits[label] ? 1 : 0;
    losses.push_back(loss);
    ranks.push_back(rank);
  }
  double weight(std::int64_t i) const { return weights[static_cast<std::size_t>(i)]; }

  std::int64_t classes, count;
  bool sparse;
  std::vector<double> weights{}, probabilities{}, losses{};
  std::vector<std::int64_t> ranks{};
};

void compute(const MeasuredCrossEntropy& op, std::span<const Array> in, std::span<Array> out) {
  const Rows rows(in[0], in[1]);
  for (std::int64_t i = 0; i < in[0].size(); ++i) {
    const double p = rows.probabilities[static_cast<std::size_t>(i)];
    out[0][i] = p;
    if (op.options.gradient) out[1][i] = in[2][i / rows.classes] * (p - rows.weight(i));
  }
  for (std::size_t figure = 0; figure < op.figures(); ++figure) {
    double sum = 0;
    for (std::size_t row = 0; row < rows.losses.size(); ++row) {
      sum += figure == 0 ? rows.losses[row] : rows.ranks[row] < op.options.metrics[figure - 1] ? 1 : 0;
    }
    const bool adds = op.options.adds;
    const std::size_t state = op.first_state() + figure;
    Array& result = out[op.first_figure() + figure];
    result[0] = (adds ? in[state][0] : 0) + sum;
    result[1] = (adds ? in[state][1] : 0) + static_cast<double>(rows.count);
  }
}

OpCase measured_case(std::string name, Shape shape, Dtype labels, MeasuredAttributes options) {
  const auto op = std::make_shared<const MeasuredCrossEntropy>(options);
  const Shape rows(shape.begin(), shape.end() - 1);
  const bool sparse = labels != Dtype::f32;
  CaseInput label{.type = {sparse ? rows : shape, labels}, .low = 0, .high = static_cast<double>(shape.back()) - 1};
  if (!sparse) label.fill = support::one_hot_rows;
  std::vector<CaseInput> inputs{{.type = {shape, Dtype::f32}, .low = -4, .high = 4}, label};
  if (options.gradient) inputs.push_back({.type = {rows, Dtype::f32}});
  for (std::size_t i = 0; options.adds && i < op->figures(); ++i) {
    inputs.push_back({.type = {{2}, Dtype::f32}, .low = 1, .high = 10});
  }
  return {.name = std::move(name),
          .op = op,
          .inputs = std::move(inputs),
          .reference = [op](std::span<const Array> in, std::span<Array> out) { compute(*op, in, out); },
          .differentiable = false,
          .only_fused = true};
}

std::vector<OpCase> measured_cases() {
  const Dtype one_hot = Dtype::f32;
  return {
      measured_case("training", {32, 10}, Dtype::i64, {.gradient = true, .adds = true, .metrics = {1}}),
      measured_case("one_hot", {32, 10}, one_hot, {.gradient = true, .adds = true, .metrics = {1}}),
      measured_case("replica", {16, 10}, Dtype::i32, {.gradient = true, .metrics = {1, 5}}),
      measured_case("of_logits", {17, 3}, Dtype::u8,
                    {.gradient = true, .adds = true, .ranks_logits = true, .metrics = {2}}),
      measured_case("evaluation", {32, 10}, Dtype::i64, {.adds = true, .metrics = {1}}),
      measured_case("no_metric", {32, 10}, one_hot, {.gradient = true, .adds = true}),
      measured_case("most_metrics", {9, 6}, Dtype::i64, {.adds = true, .metrics = {1, 2, 3, 4}}),
      measured_case("words", {2, 3, 40}, Dtype::i64, {.gradient = true, .metrics = {3}}),
      measured_case("one_row", {1, 1024}, Dtype::i64, {.gradient = true, .adds = true, .metrics = {7}}),
      measured_case("two_turns", {128, 16}, one_hot, {.gradient = true, .adds = true, .metrics = {2}}),
      measured_case("most_rows", {1000, 2}, Dtype::u8, {.gradient = true, .adds = true, .metrics = {1}}),
  };
}

GPUBENCH_OP_CASES(MeasuredCrossEntropy, measured_cases);

TEST(MeasuredCrossEntropyTest, HasTheRequirementsOfItsParts) {
  const TensorType logits{{4, 3}, Dtype::f32}, labels{{4}, Dtype::i64}, state{{2}, Dtype::f32};
  const auto infer = [](const MeasuredAttributes& options, std::vector<TensorType> inputs) {
    return MeasuredCrossEntropy(options).infer(inputs);
  };
  EXPECT_THAT(
      infer({.gradient = true, .adds = true, .metrics = {1}}, {logits, labels, {{4}, Dtype::f32}, state, state}),
      testing::ElementsAre(logits, logits, state, state));
  EXPECT_ERROR("measured_cross_entropy: takes 3 inputs, got 2", infer({.adds = true}, {logits, labels}));
  EXPECT_ERROR(
      "sparse_softmax_cross_entropy: the labels must be class indices (int64, int32 or "
      "uint8) of shape [4], got int64[5]",
      infer({}, {logits, {{5}, Dtype::i64}}));
  EXPECT_ERROR(testing::HasSubstr("the loss' gradient must be float32[4], got float32[3]"),
               infer({.gradient = true}, {logits, labels, {{3}, Dtype::f32}}));
  EXPECT_ERROR("top_k_matches: k must be between 1 and 3 classes, got 4", infer({.metrics = {4}}, {logits, labels}));
  EXPECT_ERROR("accumulate_mean: the state must be float32[2], got float32[3]",
               infer({.adds = true}, {logits, labels, {{3}, Dtype::f32}}));
  EXPECT_ERROR(testing::HasSubstr("sum_and_count: the values must be float32[4], got float16[4]"),
               infer({}, {{{4, 3}, Dtype::f16}, labels}));
}

TEST(MeasuredCrossEntropyTest, CostsWhatItsPartsCost) {
  const std::vector<TensorType> inputs{{{4, 3}, Dtype::f32}, {{4}, Dtype::i64}};
  // 5 flops of an element for the loss, 1 for the rank; a sum of 4 rows each
  EXPECT_EQ(MeasuredCrossEntropy({.metrics = {1}}).flops(inputs, {}), 12 * 5 + 12 * 1 + 2 * 4);
}

TEST(MeasuredCrossEntropyTest, ChangesStatesOnly) {
  EXPECT_TRUE(MeasuredCrossEntropy({.adds = true}).has_effect());
  EXPECT_FALSE(MeasuredCrossEntropy({.gradient = true}).has_effect());
  EXPECT_NE(MeasuredCrossEntropy({.metrics = {1}}).attributes(), MeasuredCrossEntropy({.metrics = {2}}).attributes());
}

}  // namespace
}  // namespace gpubench::measured_cross_entropy_test
