#include "core/ops/attention.h"

#include <array>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <memory>

#include "core/base/error.h"
#include "core/device/device.h"
#include "core/math/philox.h"
#include "tests/support/case_checks.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::attention_test {
namespace {

using support::Array;
using support::CaseInput;
using support::floats;
using support::OpCase;
using testing::ThrowsMessage;

struct Sizes {
  std::int64_t batch, queries, keys, heads, groups, dim, value_dim;
};

/// The weights of one query of one head, before and after some are dropped, and the log of the exponentials' sum.
struct Weights {
  std::vector<double> before, after;
  double sum = 0;
};

class Plain {
 public:
  Plain(const Sizes& sizes, const AttentionOptions& options, std::span<const Array> in)
      : s(sizes), options_(options), in_(in) {}

  static double at(const Array& x, std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t d) {
    return x[((b * x.extent(1) + t) * x.extent(2) + h) * x.extent(3) + d];
  }
  std::int64_t group_of(std::int64_t head) const { return head / (s.heads / s.groups); }

  Weights weights_of(std::int64_t b, std::int64_t i, std::int64_t h) const {
    Weights weights;
    double total = 0;
    for (std::int64_t j = 0; j < s.keys; ++j) {
      double product = 0;
      for (std::int64_t d = 0; d < s.dim; ++d) product += at(in_[0], b, i, h, d) * at(in_[1], b, j, group_of(h), d);
      weights.before.push_back(std::exp(masked(product * options_.scale, b, i, h, j)));
      total += weights.before.back();
    }
    for (std::int64_t j = 0; j < s.keys; ++j) {
      double& weight = weights.before[static_cast<std::size_t>(j)];
      if (total > 0) weight /= total;
      weights.after.push_back(weight * kept(b, i, h, j));
    }
    weights.sum = std::log(total);
    return weights;
  }

  double kept(std::int64_t b, std::int64_t i, std::int64_t h, std::int64_t j) const {
    if (options_.dropout == 0) return 1;
    const std::int64_t row = (s.keys + 63) / 64 * 64;
    const std::int64_t element = (((options_.first + b) * s.heads + h) * s.queries + i) * row + j;
    const auto step = static_cast<std::uint64_t>(in_[options_.mask ? 4 : 3][0]);
    const std::uint32_t word = math::philox_word(options_.seed, step, element);
    return word >= static_cast<std::uint32_t>(options_.dropout * 0x1p32) ? 1 / (1 - options_.dropout) : 0;
  }

  const Sizes s;

 private:
  double masked(double product, std::int64_t b, std::int64_t i, std::int64_t h, std::int64_t j) const {
    constexpr double never = -std::numeric_limits<double>::infinity();
    if (options_.causal && j > i) return never;
    if (!options_.mask) return product;
    const Array& mask = in_[3];
    const std::int64_t place[] = {b, h, i, j};
    std::int64_t element = 0;
    const std::size_t rank = mask.type.shape.size();
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::int64_t extent = mask.type.shape[axis];
      element = element * extent + (extent == 1 ? 0 : place[axis + 4 - rank]);
    }
    if (mask.type.dtype != Dtype::boolean) return product + mask[element];
    return mask[element] != 0 ? product : never;
  }

  const AttentionOptions options_;
  std::span<const Array> in_;
};

void forward(const Plain& plain, std::span<const Array> in, std::span<Array> out) {
  const Sizes& s = plain.s;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t i = 0; i < s.queries; ++i) {
      for (std::int64_t h = 0; h < s.heads; ++h) {
        const Weights weights = plain.weights_of(b, i, h);
        out[1][(b * s.heads + h) * s.queries + i] = weights.sum;
        for (std::int64_t d = 0; d < s.value_dim; ++d) {
          double& value = out[0][((b * s.queries + i) * s.heads + h) * s.value_dim + d];
          for (std::int64_t j = 0; j < s.keys; ++j) {
            value += weights.after[static_cast<std::size_t>(j)] * Plain::at(in[2], b, j, plain.group_of(h), d);
          }
        }
      }
    }
  }
}

std::vector<CaseInput> case_inputs(const Sizes& s, const AttentionOptions& options, const CaseInput& mask) {
  std::vector<CaseInput> inputs{floats({s.batch, s.queries, s.heads, s.dim}),
                                floats({s.batch, s.keys, s.groups, s.dim}),
                                floats({s.batch, s.keys, s.groups, s.value_dim})};
  if (options.mask) inputs.push_back(mask);
  if (options.mask) inputs.back().gradient = false;
  if (options.dropout > 0) inputs.push_back({.type = {{}, Dtype::i64}, .low = 0, .high = 9});
  return inputs;
}

OpCase attention_case(std::string name, const Sizes& s, AttentionOptions options, const CaseInput& mask = {}) {
  return {.name = std::move(name),
          .op = std::make_shared<const Attention>(options),
          .inputs = case_inputs(s, options, mask),
          .reference = [s, options](std::span<const Array> in,
                                    std::span<Array> out) { forward(Plain(s, options, in), in, out); },
          .saved_from = 1,
          .least_scale = 0.01};  // the gradients of q and k vanish where there is one key
}

/// The gradient by the formulas, with the given outputs in the place of what forward computes. The logs of sums are
/// large enough that all weights are at most 1.
OpCase gradient_case(std::string name, const Sizes& s, AttentionOptions options) {
  std::vector<CaseInput> inputs = case_inputs(s, options, {});
  const std::size_t at = inputs.size();
  inputs.push_back(floats({s.batch, s.queries, s.heads, s.value_dim}));
  inputs.push_back({.type = {{2, s.batch, s.heads, s.queries}, Dtype::f32}, .low = 1, .high = 2});
  inputs.push_back(floats({s.batch, s.queries, s.heads, s.value_dim}));
  return {
      .name = std::move(name),
      .op = std::make_shared<const AttentionGradient>(options),
      .inputs = std::move(inputs),
      .reference =
          [s, options, at](std::span<const Array> in, std::span<Array> out) {
            const Plain plain(s, options, in);
            const auto element = [](const Array& x, std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t d) {
              return ((b * x.extent(1) + t) * x.extent(2) + h) * x.extent(3) + d;
            };
            for (std::int64_t b = 0; b < s.batch; ++b) {
              for (std::int64_t h = 0; h < s.heads; ++h) {
                const std::int64_t g = plain.group_of(h);
                for (std::int64_t i = 0; i < s.queries; ++i) {
                  const Weights weights = plain.weights_of(b, i, h);
                  const std::int64_t query = (b * s.heads + h) * s.queries + i;
                  const double given = in[at + 1][query] + in[at + 1][s.batch * s.heads * s.queries + query];
                  double dot = 0;
                  for (std::int64_t d = 0; d < s.value_dim; ++d) {
                    dot += Plain::at(in[at], b, i, h, d) * Plain::at(in[at + 2], b, i, h, d);
                  }
                  for (std::int64_t j = 0; j < s.keys; ++j) {
                    const double weight = weights.before[static_cast<std::size_t>(j)] * std::exp(weights.sum - given);
                    const double kept = plain.kept(b, i, h, j);
                    double slope = 0;
                    for (std::int64_t d = 0; d < s.value_dim; ++d) {
                      slope += Plain::at(in[at + 2], b, i, h, d) * Plain::at(in[2], b, j, g, d);
                      out[2][element(out[2], b, j, g, d)] += weight * kept * Plain::at(in[at + 2], b, i, h, d);
                    }
                    const double change = weight * (slope * kept - dot) * options.scale;
                    for (std::int64_t d = 0; d < s.dim; ++d) {
                      out[0][element(out[0], b, i, h, d)] += change * Plain::at(in[1], b, j, g, d);
                      out[1][element(out[1], b, j, g, d)] += change * Plain::at(in[0], b, i, h, d);
                    }
                  }
                }
              }
            }
          },
      .differentiable = false};
}

/// Each query attends to the first key at least.
CaseInput mask_of(Shape shape, Dtype dtype = Dtype::boolean) {
  CaseInput mask{.type = {std::move(shape), dtype}};
  if (dtype != Dtype::boolean) return mask;
  mask.fill = [](Array& array, std::mt19937_64&) {
    for (std::int64_t row = 0; row < array.size(); row += array.type.shape.back()) array[row] = 1;
  };
  return mask;
}

/// The shapes of models: heads that cuDNN's engines take in 16 bits.
std::vector<OpCase> model_attention_cases() {
  const AttentionOptions plain{.scale = 0.125}, causal{.scale = 0.125, .causal = true};
  const Sizes heads_of_64{1, 48, 72, 4, 2, 64, 64}, more_queries{1, 72, 40, 2, 1, 64, 64};
  const Sizes heads_of_128{1, 40, 48, 4, 2, 128, 128};
  return {
      attention_case("heads_of_64_in_groups", heads_of_64, plain),
      attention_case("causal_heads_of_64_of_more_keys", heads_of_64, causal),
      attention_case("causal_heads_of_64_of_fewer_keys", more_queries, causal),
      attention_case("causal_heads_of_128_in_groups", heads_of_128, causal),
      gradient_case("gradient_of_heads_of_64_in_groups", heads_of_64, plain),
      gradient_case("gradient_of_causal_heads_of_64_of_more_keys", heads_of_64, causal),
      gradient_case("gradient_of_causal_heads_of_64_of_fewer_keys", more_queries, causal),
      gradient_case("gradient_of_causal_heads_of_128_in_groups", heads_of_128, causal),
  };
}

GPUBENCH_OP_CASES(ModelAttention, model_attention_cases);

std::vector<OpCase> attention_cases() {
  const AttentionOptions plain{.scale = 0.5}, causal{.scale = 0.5, .causal = true}, masked{.scale = 0.5, .mask = true};
  const AttentionOptions dropped{.scale = 0.5, .dropout = 0.3, .seed = 7};
  const AttentionOptions all{.scale = 0.5, .causal = true, .mask = true, .dropout = 0.3, .seed = 7, .first = 3};
  return {
      attention_case("attention", {2, 5, 6, 2, 2, 4, 3}, plain),
      attention_case("attention_of_one_key", {1, 3, 1, 1, 1, 2, 2}, plain),
      attention_case("attention_grouped", {1, 5, 4, 4, 2, 3, 5}, plain),
      attention_case("attention_causal", {1, 7, 7, 1, 1, 4, 4}, causal),
      attention_case("attention_causal_of_fewer_keys", {1, 7, 5, 1, 1, 4, 4}, causal),
      attention_case("attention_masked", {2, 4, 5, 2, 1, 4, 4}, masked, mask_of({2, 2, 4, 5})),
      attention_case("attention_padded", {3, 4, 5, 2, 2, 4, 4}, masked, mask_of({3, 1, 1, 5})),
      attention_case("attention_biased", {2, 4, 5, 2, 2, 4, 4}, masked, mask_of({2, 4, 5}, Dtype::f32)),
      attention_case("attention_dropped", {2, 4, 5, 2, 2, 4, 4}, dropped),
      attention_case("attention_with_all", {2, 6, 6, 4, 2, 4, 4}, all, mask_of({2, 1, 6, 6})),
      attention_case("attention_of_blocks", {1, 60, 70, 2, 1, 20, 17}, plain),
      attention_case("attention_of_causal_blocks", {1, 60, 130, 1, 1, 16, 33}, causal),
      attention_case("attention_of_dropped_blocks", {1, 50, 70, 2, 1, 8, 8}, dropped),
      attention_case("attention_of_wide_heads", {1, 33, 20, 1, 1, 128, 100}, plain),
      attention_case("attention_on_threads", {1, 110, 100, 4, 2, 8, 8}, causal),
      gradient_case("attention_gradient", {2, 5, 6, 2, 1, 4, 3}, plain),
      gradient_case("attention_gradient_of_causal_blocks", {1, 60, 130, 1, 1, 16, 33}, causal),
      gradient_case("attention_gradient_of_dropped_blocks", {1, 50, 70, 2, 1, 8, 8}, dropped),
      gradient_case("attention_gradient_on_threads", {3, 110, 100, 2, 1, 8, 8}, causal),
      gradient_case("attention_gradient_of_heads_of_64", {1, 40, 37, 1, 1, 64, 50}, causal),
      gradient_case("attention_gradient_of_wide_heads", {1, 33, 20, 1, 1, 128, 100}, plain),
      gradient_case("attention_gradient_of_one_group", {1, 170, 150, 2, 1, 4, 4}, plain),
  };
}

GPUBENCH_OP_CASES(Attention, attention_cases);

TEST(AttentionTest, RefusesTypesThatDoNotFit) {
  Graph graph;
  const auto value = [&](Shape shape, Dtype dtype = Dtype::f32) { return graph.input({std::move(shape), dtype}, "x"); };
  const auto apply = [&](Value q, Value k, Value v, Value mask = {}) {
    return [&graph, q, k, v, mask] { ops::attention(graph, {q, k, v, mask}, {}); };
  };
  const Value q = value({2, 5, 6, 4}), k = value({2, 7, 3, 4}), v = value({2, 7, 3, 8});
  EXPECT_EQ(graph.type(ops::attention(graph, {q, k, v}, {})).shape, (Shape{2, 5, 6, 8}));
  EXPECT_THAT(apply(q, value({2, 7, 4, 4}), value({2, 7, 4, 8})),
              ThrowsMessage<Error>("attention: the 6 heads of the queries must be a "
                                   "multiple of the 4 heads of keys and values"));
  EXPECT_THAT(apply(q, value({2, 7, 3, 5}), v),
              ThrowsMessage<Error>("attention: queries and keys must have the same batch and dim in [batch, time, "
                                   "heads, dim], got float32[2, 5, 6, 4] and float32[2, 7, 3, 5]"));
  EXPECT_THAT(apply(q, k, value({2, 8, 3, 8})),
              ThrowsMessage<Error>("attention: keys and values must have the same batch, time and heads, got "
                                   "float32[2, 7, 3, 4] and float32[2, 8, 3, 8]"));
  EXPECT_THAT(
      apply(q, value({2, 0, 3, 4}), value({2, 0, 3, 8})),
      ThrowsMessage<Error>("attention: time, heads and dim of [batch, time, heads, dim] must be at least 1, got "
                           "float32[2, 0, 3, 4]"));
  EXPECT_THAT(
      apply(q, k, v, value({2, 1, 1, 5}, Dtype::boolean)),
      ThrowsMessage<Error>("attention: the mask must be bool or float32 and broadcast to [batch, heads, queries, "
                           "keys] = [2, 6, 5, 7], got bool[2, 1, 1, 5]"));
  EXPECT_THAT(
      apply(q, k, v, value({5, 7}, Dtype::i32)),
      ThrowsMessage<Error>("attention: the mask must be bool or float32 and broadcast to [batch, heads, queries, "
                           "keys] = [2, 6, 5, 7], got int32[5, 7]"));
  EXPECT_ERROR("attention: dropout must be at least 0 and below 1, got 1",
               ops::attention(graph, {q, k, v}, {.dropout = 1}));
}

TEST(AttentionTest, AQueryThatAttendsToNoKeyGetsZeros) {
  if (support::places().empty()) GTEST_SKIP() << support::why_no_place();
  Graph graph;
  const TensorType type{{1, 2, 1, 3}, Dtype::f32};
  const Value x = graph.input(type, "x"), mask = graph.input({{1, 1, 2, 2}, Dtype::boolean}, "mask");
  const Value y = ops::attention(graph, {x, x, x, mask}, {});
  const std::array outputs{y, Value{y.node, 1}}, slopes{x, Value{}};
  const std::array inputs{x, x, x, mask};
  std::vector<Value> results{y};
  for (const Value gradient : graph.node(y).op->gradient(graph, inputs, outputs, slopes))
    if (gradient) results.push_back(gradient);
  Array ones(type), first_only({{1, 1, 2, 2}, Dtype::boolean});
  ones.values.assign(6, 1);
  first_only.values = {1, 1, 0, 0};
  for (const support::Place& place : support::places()) {
    const std::vector<HostTensor> given{support::to_tensor(ones), support::to_tensor(first_only)};
    const auto got = support::evaluate(*place.backend, *place.device, graph, given, results);
    EXPECT_THAT(support::to_array(got[0]).values, testing::ElementsAre(1, 1, 1, 0, 0, 0)) << support::where(place);
    EXPECT_THAT(support::to_array(got[3]).values, testing::Each(testing::DoubleNear(0.5, 1e-6)));
    for (const std::size_t i : {1U, 2U}) EXPECT_THAT(support::to_array(got[i]).values, testing::Each(0));
  }
}

/// A number that is added to all scores changes neither weights nor gradients, be it 1e9 as masks have it: both are
/// those of the scores that float32 holds, in double precision.
TEST(AttentionTest, KeepsItsDigitsAtAnyShift) {
  if (support::places().empty()) GTEST_SKIP() << support::why_no_place();
  constexpr std::int64_t keys = 70;  // two blocks of the CPU
  for (const double shift : {0.0, 1e3, -6e4, 1e7, -1e9}) {
    Array q({{1, 3, 1, 1}, Dtype::f32}), k({{1, keys, 1, 1}, Dtype::f32}), v = k;
    Array mask({{1, 1, 1, keys}, Dtype::f32}), slope = q;
    q.values = {1, 2, 0};
    slope.values = {1, -2, 3};
    for (std::int64_t j = 0; j < keys; ++j) {
      k[j] = static_cast<double>(j % 5) / 4;
      v[j] = static_cast<double>(j % 7 - 3);
      mask[j] = static_cast<float>(shift + static_cast<double>(j % 3));
    }
    const AttentionOptions options{.mask = true};
    // As float32 rounds the sum of product and mask: the same for every way to compute it.
    const auto score = [&](std::int64_t i, std::int64_t j) {
      return static_cast<double>(static_cast<float>(q[i] * k[j]) + static_cast<float>(mask[j]));
    };
    std::vector<double> dv(keys), values(3);
    for (std::int64_t i = 0; i < 3; ++i) {
      double total = 0;
      std::vector<double> weights(keys);
      for (std::int64_t j = 0; j < keys; ++j) total += weights[j] = std::exp(score(i, j) - shift);
      for (std::int64_t j = 0; j < keys; ++j) values[i] += weights[j] / total * v[j];
      for (std::int64_t j = 0; j < keys; ++j) dv[j] += weights[j] / total * slope[i];
    }
    Graph graph;
    const Value of_q = graph.input(q.type, "q"), of_k = graph.input(k.type, "k"), of_v = graph.input(v.type, "v");
    const Value of_mask = graph.input(mask.type, "mask"), of_slope = graph.input(slope.type, "slope");
    const Value y = ops::attention(graph, {of_q, of_k, of_v, of_mask}, options);
    const std::array given{of_q, of_k, of_v, of_mask};
    const std::array outputs{y, Value{y.node, 1}}, slopes{of_slope, Value{}};
    const std::vector<Value> gradients = graph.node(y).op->gradient(graph, given, outputs, slopes);
    for (const support::Place& place : support::places()) {
      const std::vector<HostTensor> tensors{support::to_tensor(q), support::to_tensor(k), support::to_tensor(v),
                                            support::to_tensor(mask), support::to_tensor(slope)};
      const std::vector<Value> wanted{y, gradients[2]};
      const auto got = support::evaluate(*place.backend, *place.device, graph, tensors, wanted);
      const auto close = [&](const HostTensor& tensor, const std::vector<double>& expected) {
        EXPECT_THAT(support::to_array(tensor).values, testing::Pointwise(testing::DoubleNear(2e-6), expected))
            << support::where(place) << ", scores shifted by " << shift;
      };
      close(got[0], values);
      close(got[1], dv);
    }
  }
}

TEST(AttentionTest, NotANumberStaysVisible) {
  if (support::places().empty()) GTEST_SKIP() << support::why_no_place();
  const Attention op({});
  Array x({{1, 2, 1, 3}, Dtype::f32}), ones = x;
  ones.values.assign(6, 1);
  x.values = {1, 1, std::numeric_limits<double>::quiet_NaN(), 1, 1, 1};
  for (const support::Place& place : support::places()) {
    const std::vector<HostTensor> given{support::to_tensor(x), support::to_tensor(ones), support::to_tensor(ones)};
    const auto got = support::to_array(support::evaluate(*place.backend, *place.device, op, given)[0]).values;
    EXPECT_TRUE(std::isnan(got[0])) << support::where(place);
    EXPECT_NEAR(got[3], 1, 1e-6) << support::where(place);
  }
}

TEST(AttentionTest, CountsThePairsOfACausalMask) {
  const TensorType q{{2, 5, 3, 4}, Dtype::f32}, k{{2, 7, 3, 4}, Dtype::f32}, short_k{{2, 2, 3, 4}, Dtype::f32};
  EXPECT_EQ(AttentionExtents(q, k, k).pairs(false), 2 * 3 * 35);
  EXPECT_EQ(AttentionExtents(q, k, k).pairs(true), 2 * 3 * 15);
  EXPECT_EQ(AttentionExtents(q, short_k, short_k).pairs(true), 2 * 3 * (1 + 4 * 2));
  const std::array<TensorType, 3> inputs{q, k, TensorType{{2, 7, 3, 5}, Dtype::f32}};
  EXPECT_EQ(Attention({}).flops(inputs, {}), 2.0 * 210 * (4 + 5));
  EXPECT_EQ(AttentionGradient({.causal = true}).flops(inputs, {}), 2.0 * 90 * (3 * 4 + 2 * 5));
}

}  // namespace
}  // namespace gpubench::attention_test
