// Symmetric int8 quantization by a scale, as int8 values and simulated in training. A scale is float32 and positive:
// one for the tensor, [], or one per channel (the last dimension), [channels].
#pragma once
#include "core/graph/graph.h"

namespace gpubench {

/// Scales from 0 to the end of a range: a range is [-127 scales, 127 scales].
inline constexpr float int8_steps = 127;

/// x float32, scale -> int8: x / scale rounded to nearest, ties to even, saturating at -128 and 127.
class Quantize final : public Op {
 public:
  std::string_view name() const override { return "quantize"; }
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
};

/// x float32, scale -> float32: x quantized and multiplied by the scale again. A scale of 0 leaves x unchanged.
/// Straight-through gradient: dy where x did not saturate; 0 for the scale (Jacob et al., "Quantization and Training
/// of Neural Networks for Efficient Integer-Arithmetic-Only Inference", 2018).
class FakeQuantize final : public Op {
 public:
  std::string_view name() const override { return "fake_quantize"; }
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }
  /// Division, rounding, two limits and a multiplication.
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;
};

/// dy, x, scale -> dx
class FakeQuantizeGradient final : public Op {
 public:
  std::string_view name() const override { return "fake_quantize_gradient"; }
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const override;
  std::vector<Alias> aliases() const override {
    return {{0, 0, Alias::Kind::may_overwrite}, {0, 1, Alias::Kind::may_overwrite}};
  }
};

namespace ops {

Value quantize(Graph& graph, Value x, Value scale);
Value fake_quantize(Graph& graph, Value x, Value scale);

}  // namespace ops
}  // namespace gpubench
