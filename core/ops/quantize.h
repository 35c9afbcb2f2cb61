// Symmetric int8 quantization by a scale, as int8 values and simulated in training. A scale is float32 and positive:
// one for the tensor, [], or one per channel (the last dimension), [channels].
#pragma once
#include "core/ops/simple_op.h"

namespace gpubench {

/// Scales from 0 to the end of a range: a range is [-127 scales, 127 scales].
inline constexpr float int8_steps = 127;

/// x float32, scale -> int8: x / scale rounded to nearest, ties to even, saturating at -128 and 127.
struct Quantize final : SimpleOp {
  Quantize();
};

/// x float32, scale -> float32: x quantized and multiplied by the scale again. A scale of 0 leaves x unchanged.
/// Straight-through gradient: dy where x did not saturate; 0 for the scale (Jacob et al., "Quantization and Training
/// of Neural Networks for Efficient Integer-Arithmetic-Only Inference", 2018).
struct FakeQuantize final : SimpleOp {
  FakeQuantize();
};

/// dy, x, scale -> dx
struct FakeQuantizeGradient final : SimpleOp {
  FakeQuantizeGradient();
};

namespace ops {

Value quantize(Graph& graph, Value x, Value scale);
Value fake_quantize(Graph& graph, Value x, Value scale);

}  // namespace ops
}  // namespace gpubench
