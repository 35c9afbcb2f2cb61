// Calibration of a model for quantization: the ranges of its layers' inputs while it predicts a calibration set.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/data/dataset.h"
#include "core/exec/runtime.h"
#include "core/nn/model.h"
#include "core/train/compress/value_range.h"

namespace gpubench {

struct CalibrationOptions {
  /// Batches; labels are ignored. Do not use the test set, because its accuracy would be too good.
  DatasetPtr dataset;
  /// Number of batches to use; none: all.
  std::optional<std::int64_t> batches;
  RangeMethod method = RangeMethod::max;
  double percentile = 99.99;
};

/// Throws Error for a percentile outside (0, 100] and for fewer than one batch.
void check(const CalibrationOptions& options);

/// For each of `layers`, by name, the range of its inputs over all its calls. Throws Error for an empty or infinite
/// dataset, for elements on a device, and for a layer whose input is not finite or only zeros, naming it.
std::map<std::string, float> calibrate(Runtime& runtime, const Model& model, const std::set<std::string>& layers,
                                       const CalibrationOptions& options);

}  // namespace gpubench
