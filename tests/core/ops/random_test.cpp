#include "core/ops/random.h"

#include <array>
#include <bit>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <numbers>

#include "core/backend/cpu/cpu_backend.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::random_test {
namespace {

using support::Array;
using support::CaseInput;
using support::OpCase;

constexpr std::uint64_t seed = 0x0123456789ABCDEF;

/// Philox4x32-10 as the paper states it: a round multiplies, crosses over and mixes in a key that grows.
std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t high, std::uint64_t low) {
  std::array<std::uint64_t, 4> c{low & 0xFFFFFFFF, low >> 32, high & 0xFFFFFFFF, high >> 32};
  std::array<std::uint64_t, 2> k{key & 0xFFFFFFFF, key >> 32};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53 * c[0], p1 = 0xCD9E8D57 * c[2];
    c = {(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF};
    k = {(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF};
  }
  return {static_cast<std::uint32_t>(c[0]), static_cast<std::uint32_t>(c[1]), static_cast<std::uint32_t>(c[2]),
          static_cast<std::uint32_t>(c[3])};
}

/// The word of an element: 64 elements share 16 counters, and 16 neighbours one word of them each.
std::uint32_t word_of(double step, std::int64_t element, bool second = false) {
  const std::int64_t counter = element / 64 * 16 + element % 16;
  const std::uint64_t offset = second ? std::uint64_t{1} << 63 : 0;
  return philox(seed, static_cast<std::uint64_t>(step),
                static_cast<std::uint64_t>(counter) | offset)[static_cast<std::size_t>(element % 64 / 16)];
}

double uniform_of(std::uint32_t word) {
  return (word >> 8) * 0x1p-24;
}

const CaseInput step{{{}, Dtype::i64}, 0, 1e9};
CaseInput steps(std::int64_t count) {
  return {{{count}, Dtype::i64}, 0, 1e9};
}

OpCase mask_case(std::string name, OpPtr op, double rate, Shape shape, bool differentiable, CaseInput at = step,
                 std::int64_t first = 0) {
  return {.name = std::move(name),
          .op = std::move(op),
          .inputs = {{{std::move(shape), Dtype::f32}}, std::move(at)},
          .reference =
              [rate, first](std::span<const Array> in, std::span<Array> out) {
                const std::int64_t part = in[0].size() / in[1].size();
                for (std::int64_t i = 0; i < in[0].size(); ++i) {
                  const bool kept = word_of(in[1][i / part], first + i % part) >= rate * 0x1p32;
                  out[0][i] = kept ? in[0][i] / (1 - rate) : 0;
                }
              },
          .differentiable = differentiable};
}

OpCase generator_case(std::string name, OpPtr op, std::function<double(double, std::int64_t)> f, CaseInput at = step) {
  return {.name = std::move(name),
          .op = std::move(op),
          .inputs = {std::move(at)},
          .reference =
              [f = std::move(f)](std::span<const Array> in, std::span<Array> out) {
                const std::int64_t part = out[0].size() / in[0].size();
                for (std::int64_t i = 0; i < out[0].size(); ++i) out[0][i] = f(in[0][i / part], i % part);
              },
          .differentiable = false};
}

std::vector<OpCase> random_cases() {
  const auto uniform = [](double at, std::int64_t i) { return -2 + 5 * uniform_of(word_of(at, i)); };
  const auto normal = [](double at, std::int64_t i) {
    const double radius = std::sqrt(-2 * std::log(1 - uniform_of(word_of(at, i))));
    return 1 + 3 * radius * std::cos(2 * std::numbers::pi * uniform_of(word_of(at, i, true)));
  };
  return {
      mask_case("dropout", std::make_shared<const Dropout>(0.25, seed), 0.25, {5, 37}, true),
      mask_case("dropout_nothing", std::make_shared<const Dropout>(0, seed), 0, {41}, true),
      mask_case("dropout_on_threads", std::make_shared<const Dropout>(0.5, seed), 0.5, {70000}, true),
      mask_case("dropout_gradient", std::make_shared<const DropoutGradient>(0.25, seed), 0.25, {5, 37}, true),
      mask_case("dropout_by_steps", std::make_shared<const Dropout>(0.25, seed), 0.25, {3, 5, 37}, true, steps(3)),
      mask_case("dropout_of_lone_numbers", std::make_shared<const Dropout>(0.25, seed), 0.25, {90}, true, steps(90)),
      mask_case("dropout_from_within", std::make_shared<const Dropout>(0.25, seed, 101), 0.25, {5, 37}, true, step,
                101),
      mask_case("dropout_within_a_block", std::make_shared<const Dropout>(0.5, seed, 7), 0.5, {20}, true, step, 7),
      mask_case("dropout_from_a_block_on", std::make_shared<const Dropout>(0.5, seed, 64 * 300), 0.5, {70}, true, step,
                64 * 300),
      mask_case("dropout_from_within_on_threads", std::make_shared<const Dropout>(0.5, seed, 33), 0.5, {70000}, true,
                step, 33),
      mask_case("dropout_from_within_by_steps", std::make_shared<const Dropout>(0.25, seed, 50), 0.25, {3, 5, 37}, true,
                steps(3), 50),
      mask_case("dropout_gradient_from_within", std::make_shared<const DropoutGradient>(0.25, seed, 101), 0.25, {5, 37},
                true, step, 101),
      generator_case("uniform_by_steps", std::make_shared<const RandomUniform>(Shape{70}, -2, 3, seed), uniform,
                     steps(9)),
      generator_case("normal_by_steps", std::make_shared<const RandomNormal>(Shape{}, 1, 3, seed), normal, steps(9)),
      generator_case("uniform", std::make_shared<const RandomUniform>(Shape{5, 37}, -2, 3, seed), uniform),
      generator_case("uniform_on_threads", std::make_shared<const RandomUniform>(Shape{12001}, -2, 3, seed), uniform),
      generator_case("normal", std::make_shared<const RandomNormal>(Shape{5, 3700}, 1, 3, seed), normal),
  };
}

GPUBENCH_OP_CASES(Random, random_cases);

TEST(RandomTest, PhiloxAgreesWithThePublishedVectors) {
  // Known answers of the Random123 library for philox4x32-10: all zeros, and all ones.
  EXPECT_THAT(philox(0, 0, 0), testing::ElementsAre(0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8));
  EXPECT_THAT(philox(~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}),
              testing::ElementsAre(0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD));
}

TEST(RandomTest, NormalNumbersHaveTheirMoments) {
  const std::array options{CpuDeviceOptions{}};
  const CpuBackend cpu(options);
  constexpr std::int64_t count = 1 << 20;
  const std::array inputs{HostTensor::scalar(std::int64_t{7})};
  const auto out = support::evaluate(cpu, *cpu.devices()[0], RandomNormal({count}, 0, 1, seed), inputs);
  double moments[5] = {};
  for (const float x : out[0].values<float>()) {
    double power = 1;
    for (double& moment : moments) {
      moment += power / count;
      power *= x;
    }
  }
  // Six standard errors of each moment's estimate: sqrt(variance of x^k / count).
  EXPECT_NEAR(moments[1], 0, 6 * std::sqrt(1.0 / count));
  EXPECT_NEAR(moments[2], 1, 6 * std::sqrt(2.0 / count));
  EXPECT_NEAR(moments[3], 0, 6 * std::sqrt(15.0 / count));
  EXPECT_NEAR(moments[4], 3, 6 * std::sqrt(96.0 / count));
}

TEST(RandomTest, RefusesRatesAndStepsThatMakeNoSense) {
  Graph graph;
  const Value x = graph.input({{2}, Dtype::f32}, "x"), at = graph.input({{}, Dtype::i64}, "step");
  EXPECT_ERROR("dropout: the rate must be at least 0 and below 1, got 1", ops::dropout(graph, x, at, 1, seed));
  EXPECT_ERROR("dropout: the first element is number -1; they count from 0", ops::dropout(graph, x, at, 0.5, seed, -1));
  EXPECT_ERROR("dropout: the step must be int64[], got float32[2]", ops::dropout(graph, x, x, 0.5, seed));
  EXPECT_ERROR("dropout: int64[] is not floating-point; cast it to float32", ops::dropout(graph, at, at, 0.5, seed));
  EXPECT_ERROR("random_uniform: the step must be int64[], got float32[2]",
               ops::random_uniform(graph, x, {2}, 0, 1, seed));
  EXPECT_ERROR("random_normal: the step must be int64[], got float32[2]",
               ops::random_normal(graph, x, {2}, 0, 1, seed));
  EXPECT_NE(Dropout(0.5, 1).attributes(), Dropout(0.5, 2).attributes());
  EXPECT_NE(Dropout(0.5, 1, 3).attributes(), Dropout(0.5, 1).attributes());
}

}  // namespace
}  // namespace gpubench::random_test
