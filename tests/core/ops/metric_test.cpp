#include "core/ops/metric.h"

#include <array>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "core/backend/cpu/cpu_backend.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::metric_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

/// Sorts a row's classes, larger predictions first, and looks for the label among the first k.
OpCase top_k_case(std::string name, std::int64_t k, CaseInput predictions, CaseInput labels) {
  const bool one_hot = labels.type.dtype == Dtype::f32;
  return {.name = std::move(name),
          .op = std::make_shared<const TopKMatches>(k),
          .inputs = {std::move(predictions), std::move(labels)},
          .reference =
              [=](std::span<const Array> in, std::span<Array> out) {
                const std::int64_t classes = in[0].extent(1);
                for (std::int64_t row = 0; row < in[0].extent(0); ++row) {
                  std::vector<std::int64_t> order(static_cast<std::size_t>(classes));
                  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
                  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
                    return in[0][row * classes + a] > in[0][row * classes + b];
                  });
                  for (std::int64_t i = 0; i < k; ++i) {
                    const std::int64_t c = order[static_cast<std::size_t>(i)];
                    const bool hit = one_hot ? in[1][row * classes + c] == 1 : static_cast<double>(c) == in[1][row];
                    if (hit) out[0][row] = 1;
                  }
                }
              },
          .differentiable = false};
}

CaseInput predictions(Shape shape, bool ties = false) {
  CaseInput input{.type = {std::move(shape), Dtype::f32}, .low = -2, .high = 2};
  if (ties) input.fill = support::whole_numbers;
  return input;
}

CaseInput labels(Shape shape, Dtype dtype, double last) {
  return {.type = {std::move(shape), dtype}, .low = 0, .high = last};
}

std::vector<OpCase> metric_cases() {
  const CaseInput one_hot{.type = {{40, 10}, Dtype::f32}, .fill = support::one_hot_rows};
  const CaseInput words{.type = {{7, 1500}, Dtype::f32}, .fill = support::one_hot_rows};
  CaseInput zero_one{.type = {{40, 3}, Dtype::f32}, .low = 0, .high = 1, .fill = support::whole_numbers};
  return {
      top_k_case("top_1_one_hot", 1, predictions({40, 10}), one_hot),
      top_k_case("top_1_of_ties", 1, predictions({40, 10}, true), one_hot),
      top_k_case("top_3_of_ties", 3, predictions({40, 10}, true), one_hot),
      top_k_case("top_1_int64", 1, predictions({40, 5}), labels({40}, Dtype::i64, 4)),
      top_k_case("top_2_uint8_column", 2, predictions({40, 5}, true), labels({40, 1}, Dtype::u8, 4)),
      top_k_case("top_all", 5, predictions({40, 5}), labels({40}, Dtype::i32, 4)),
      top_k_case("top_5_of_words", 5, predictions({7, 2050}, true), labels({7}, Dtype::i32, 9)),
      top_k_case("top_300_of_words_one_hot", 300, predictions({7, 1500}), words),
      {.name = "binary_matches",
       .op = std::make_shared<const BinaryMatches>(0.5),
       .inputs = {{.type = {{40, 3}, Dtype::f32}, .low = 0, .high = 1}, zero_one},
       .reference =
           [](std::span<const Array> in, std::span<Array> out) {
             for (std::int64_t i = 0; i < in[0].size(); ++i) {
               out[0][i] = (in[0][i] > 0.5) == (in[1][i] > 0.5) ? 1 : 0;
             }
           },
       .differentiable = false},
  };
}

GPUBENCH_OP_CASES(Metric, metric_cases);

TEST(MetricTest, RefusesLabelsThatDoNotFit) {
  Graph graph;
  const Value p = graph.input({{4, 3}, Dtype::f32}, "p"), flat = graph.input({{4}, Dtype::f32}, "flat");
  const Value n = graph.input({{4}, Dtype::i64}, "n"), few = graph.input({{3}, Dtype::i64}, "few");
  const Value wide = graph.input({{4, 5}, Dtype::f32}, "wide");
  EXPECT_ERROR("top_k_matches: predictions must have 2 dimensions, got float32[4]", ops::top_k_matches(graph, flat, n));
  EXPECT_ERROR("top_k_matches: k must be between 1 and 3 classes, got 4", ops::top_k_matches(graph, p, n, 4));
  EXPECT_ERROR("top_k_matches: one-hot labels must be float32[4, 3], got float32[4, 5]",
               ops::top_k_matches(graph, p, wide));
  EXPECT_ERROR(
      "top_k_matches: labels for float32[4, 3] must be one-hot float32[4, 3] or integers "
      "[4], got int64[3]",
      ops::top_k_matches(graph, p, few));
  EXPECT_ERROR("binary_matches: labels must be float32[4, 3], got float32[4, 5]", ops::binary_matches(graph, p, wide));
}

class MetricKernelTest : public testing::Test {
 protected:
  float run(const Op& op, const HostTensor& a, const HostTensor& b) {
    const std::array inputs{a, b};
    return support::evaluate(cpu_, *cpu_.devices()[0], op, inputs)[0].values<float>()[0];
  }
  std::array<CpuDeviceOptions, 1> options_{};
  CpuBackend cpu_{options_};
};

TEST_F(MetricKernelTest, ADivergedModelMatchesNothing) {
  const std::array<float, 3> nan{NAN, NAN, NAN};
  const std::array<float, 3> hot{1, 0, 0};
  const HostTensor diverged = HostTensor::of<float>({1, 3}, nan), label = HostTensor::of<float>({1, 3}, hot);
  EXPECT_EQ(run(TopKMatches(1), diverged, label), 0);
  EXPECT_EQ(run(TopKMatches(3), diverged, label), 0);  // though it asks for as many as there are classes
  EXPECT_EQ(run(BinaryMatches(0.5), diverged, label), 0);
}

TEST_F(MetricKernelTest, ALabelOutOfRangeIsAnError) {
  const HostTensor p = HostTensor::zeros({{1, 3}, Dtype::f32}),
                   label = HostTensor::scalar(std::int64_t{3}).reshaped({1});
  EXPECT_ERROR("top_k_matches: label 3 of example 0 is outside 0 to 2", run(TopKMatches(1), p, label));
}

}  // namespace
}  // namespace gpubench::metric_test
