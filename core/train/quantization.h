// Quantized models: new ones of the same layers, in which Dense and Conv2D compute in int8, or in float32 as if they
// did (quantization-aware training). What other layers do stays float32.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/nn/initializer.h"
#include "core/train/calibration.h"

namespace gpubench {

/// Names of layers; empty: every Dense and Conv2D. Throws Error for a model without weights, one that has no such layer
/// or is quantized already, a name that it lacks, and one of a layer that has no int8 form.
ModelPtr quantization_aware(Runtime& runtime, VariableFactory& factory, const Model& model,
                            const std::vector<std::string>& layers);

/// The model in int8. A batch normalization that alone reads a linear layer that is quantized is folded into it first.
/// Layers that are quantization-aware keep the range that training gave them; the others' are calibrated. Throws Error
/// as above, for a model without a calibration set that needs one, and what calibrate() throws.
ModelPtr quantize_int8(Runtime& runtime, VariableFactory& factory, const Model& model,
                       const std::vector<std::string>& layers, const std::optional<CalibrationOptions>& calibration);

}  // namespace gpubench
