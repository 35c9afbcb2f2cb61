// Quantized models: new models with the same layers, in which Dense and Conv2D compute in int8, or simulate that in
// float32 (quantization-aware training). Other layers stay float32.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/nn/initializer.h"
#include "core/train/compress/calibration.h"

namespace gpubench {

/// `layers`: names; empty: all Dense and Conv2D layers. Throws Error for a model that has no weights, no such layer or
/// is already quantized, for a name that it lacks, and for a layer without an int8 form.
ModelPtr quantization_aware(Runtime& runtime, VariableFactory& factory, const Model& model,
                            const std::vector<std::string>& layers);

/// The model in int8. A batch normalization that is the only reader of a quantized linear layer is folded into it
/// first. Quantization-aware layers keep the range from training; others are calibrated. Throws Error as above, if a
/// needed calibration set is missing, and as calibrate() does.
ModelPtr quantize_int8(Runtime& runtime, VariableFactory& factory, const Model& model,
                       const std::vector<std::string>& layers, const std::optional<CalibrationOptions>& calibration);

}  // namespace gpubench
