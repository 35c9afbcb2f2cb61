// What the layers of a model are given while it predicts a calibration set: the ranges that their quantization covers.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/data/dataset.h"
#include "core/exec/runtime.h"
#include "core/nn/model.h"
#include "core/train/value_range.h"

namespace gpubench {

struct CalibrationOptions {
  /// Batches; labels are ignored. Not the test set, whose accuracy would then be too good.
  DatasetPtr dataset;
  /// How many batches are looked at; none: all.
  std::optional<std::int64_t> batches;
  RangeMethod method = RangeMethod::max;
  double percentile = 99.99;
};

/// Throws Error for a percentile outside (0, 100] and for fewer than one batch.
void check(const CalibrationOptions& options);

/// By name, for each of `layers` the range of its inputs over all its calls. Throws Error for an empty dataset, one
/// without end, elements on a device, and naming the layer whose input is not finite or nothing but zeros.
std::map<std::string, float> calibrate(Runtime& runtime, const Model& model, const std::set<std::string>& layers,
                                       const CalibrationOptions& options);

}  // namespace gpubench
