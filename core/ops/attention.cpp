#include "core/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>

#include "core/math/philox.h"
#include "core/ops/broadcast.h"
#include "core/ops/check.h"

namespace gpubench {
namespace {

std::string attributes_of(const AttentionOptions& options) {
  std::string text = fmt::format("scale={} causal={} mask={}", options.scale, options.causal, options.mask);
  if (options.dropout > 0) text += fmt::format(" dropout={} seed={}", options.dropout, options.seed);
  if (options.dropout > 0 && options.first > 0) text += fmt::format(" first={}", options.first);
  return text;
}

void check_queries_and_keys(std::string_view op, const TensorType& q, const TensorType& k, const TensorType& v) {
  ops::expect_floating(op, q);
  ops::expect_same_dtype(op, q, k);
  ops::expect_same_dtype(op, q, v);
  ops::expect_rank(op, "queries [batch, time, heads, dim]", q, 4);
  ops::expect_rank(op, "keys [batch, time, heads, dim]", k, 4);
  ops::expect_rank(op, "values [batch, time, heads, dim]", v, 4);
  if (k.shape[0] != q.shape[0] || k.shape[3] != q.shape[3]) {
    ops::refuse(op, fmt::format("queries and keys must have the same batch and dim in [batch, time, heads, dim], got "
                                "{} and {}",
                                to_string(q), to_string(k)));
  }
  if (!std::equal(k.shape.begin(), k.shape.begin() + 3, v.shape.begin())) {
    ops::refuse(op, fmt::format("keys and values must have the same batch, time and heads, got {} and {}", to_string(k),
                                to_string(v)));
  }
  for (const TensorType* type : {&q, &k, &v}) {
    if (std::count(type->shape.begin() + 1, type->shape.end(), 0) == 0) continue;
    ops::refuse(op, fmt::format("time, heads and dim of [batch, time, heads, dim] must be at least 1, got {}",
                                to_string(*type)));
  }
  if (q.shape[2] % k.shape[2] != 0) {
    ops::refuse(op, fmt::format("the {} heads of the queries must be a multiple of the {} heads of keys and values",
                                q.shape[2], k.shape[2]));
  }
}

void check_mask(std::string_view op, const TensorType& mask, const TensorType& q, const TensorType& k) {
  const Shape wanted{q.shape[0], q.shape[2], q.shape[1], k.shape[1]};
  const bool typed = mask.dtype == Dtype::boolean || mask.dtype == Dtype::f32 || mask.dtype == q.dtype;
  if (typed && ops::broadcasts_to(mask.shape, wanted)) return;
  ops::refuse(op, fmt::format("the mask must be bool or {} and broadcast to [batch, heads, queries, keys] = {}, got {}",
                              to_string(q.dtype), to_string(wanted), to_string(mask)));
}

/// Checks what Attention takes; returns the types that it gives.
std::vector<TensorType> infer_attention(std::string_view op, const AttentionOptions& options, TensorTypes inputs) {
  const TensorType &q = inputs[0], &k = inputs[1], &v = inputs[2];
  check_queries_and_keys(op, q, k, v);
  if (options.mask) check_mask(op, inputs[3], q, k);
  if (options.dropout > 0) ops::expect_type(op, "the step", inputs[options.mask ? 4 : 3], {{}, Dtype::i64});
  TensorType sums{{2, q.shape[0], q.shape[2], q.shape[1]}, Dtype::f32};
  return {{{q.shape[0], q.shape[1], q.shape[2], v.shape[3]}, q.dtype}, std::move(sums)};
}

std::size_t input_count(const AttentionOptions& options) {
  return 3 + (options.mask ? 1U : 0U) + (options.dropout > 0 ? 1U : 0U);
}

}  // namespace

AttentionExtents::AttentionExtents(const TensorType& q, const TensorType& k, const TensorType& v)
    : batch(q.shape[0]),
      queries(q.shape[1]),
      keys(k.shape[1]),
      heads(q.shape[2]),
      groups(k.shape[2]),
      dim(q.shape[3]),
      value_dim(v.shape[3]) {}

double AttentionExtents::pairs(bool causal) const {
  const auto rows = static_cast<double>(queries), columns = static_cast<double>(keys);
  const double triangle = static_cast<double>(std::min(queries, keys));
  const double attended = causal ? triangle * (triangle + 1) / 2 + (rows - triangle) * columns : rows * columns;
  return static_cast<double>(batch * heads) * attended;
}

std::int64_t AttentionExtents::random_row() const {
  return (keys + math::philox_block - 1) / math::philox_block * math::philox_block;
}

std::array<std::int64_t, 4> mask_strides(const TensorType& mask) {
  std::array<std::int64_t, 4> strides{};
  std::int64_t stride = 1;
  for (std::size_t from_end = 1; from_end <= mask.shape.size(); ++from_end) {
    const std::int64_t extent = mask.shape[mask.shape.size() - from_end];
    if (extent > 1) strides[4 - from_end] = stride;
    stride *= extent;
  }
  return strides;
}

Attention::Attention(AttentionOptions given) : options(given) {
  if (!std::isfinite(options.scale)) {
    ops::refuse("attention", fmt::format("the scale must be a finite number, got {}", options.scale));
  }
  if (!(options.dropout >= 0 && options.dropout < 1)) {
    ops::refuse("attention", fmt::format("dropout must be at least 0 and below 1, got {}", options.dropout));
  }
}

std::string Attention::attributes() const {
  return attributes_of(options);
}

std::vector<TensorType> Attention::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, input_count(options));
  return infer_attention(name(), options, inputs);
}

std::vector<Value> Attention::gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const {
  if (output_gradients[1]) ops::refuse(name(), "only the weighted values have a gradient");
  std::vector<Value> given(inputs.begin(), inputs.end());
  given.insert(given.end(), outputs.begin(), outputs.end());
  given.push_back(output_gradients[0]);
  const Value dq = graph.apply(std::make_shared<const AttentionGradient>(options), given);
  std::vector<Value> result(inputs.size());
  for (std::int32_t i = 0; i < 3; ++i) result[static_cast<std::size_t>(i)] = {dq.node, i};
  return result;
}

double Attention::flops(TensorTypes inputs, TensorTypes) const {
  const AttentionExtents extents(inputs[0], inputs[1], inputs[2]);
  return 2 * extents.pairs(options.causal) * static_cast<double>(extents.dim + extents.value_dim);
}

std::string AttentionGradient::attributes() const {
  return attributes_of(options);
}

std::vector<TensorType> AttentionGradient::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, outputs_at() + 3);
  const std::vector<TensorType> outputs = infer_attention(name(), options, inputs);
  const TensorTypes given = inputs.subspan(outputs_at());
  ops::expect_type(name(), "the weighted values", given[0], outputs[0]);
  ops::expect_type(name(), "the logarithms of the sums", given[1], outputs[1]);
  ops::expect_type(name(), "the gradient", given[2], outputs[0]);
  return {inputs[0], inputs[1], inputs[2]};
}

double AttentionGradient::flops(TensorTypes inputs, TensorTypes) const {
  const AttentionExtents extents(inputs[0], inputs[1], inputs[2]);
  return 2 * extents.pairs(options.causal) * static_cast<double>(3 * extents.dim + 2 * extents.value_dim);
}

namespace ops {

Value attention(Graph& graph, const AttentionInputs& inputs, AttentionOptions options) {
  options.mask = static_cast<bool>(inputs.mask);
  std::vector<Value> given{inputs.query, inputs.key, inputs.value};
  if (options.mask) given.push_back(inputs.mask);
  if (options.dropout > 0) given.push_back(inputs.step);
  return graph.apply(std::make_shared<const Attention>(options), given);
}

}  // namespace ops
}  // namespace gpubench
