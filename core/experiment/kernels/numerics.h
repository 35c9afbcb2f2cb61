// Statistics of a model's numbers on one batch: magnitudes of layer outputs and gradients, and how many of them a
// 16-bit type would lose. Runs on request in its own graph, which changes no variable.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/data/element.h"
#include "core/train/trainer.h"

namespace gpubench {

/// How a tensor's elements fit into a type's range.
struct NumericRange {
  std::int64_t elements = 0;
  std::int64_t zeros = 0;
  std::int64_t not_finite = 0;
  std::int64_t overflows = 0;   ///< finite, beyond the type's largest number
  std::int64_t underflows = 0;  ///< not zero, below the type's smallest normal number
  std::int64_t lost = 0;        ///< underflows that round to zero
  /// Of finite magnitudes above zero; 0 if there are none.
  double smallest = 0, largest = 0;
};

/// Throws Error for a type that is not floating-point.
NumericRange numeric_range(std::span<const float> values, Dtype judged_as);

struct LayerNumerics {
  std::string layer;
  std::string value;  ///< "output", or the name of a variable: "kernel"
  bool gradient = false;
  Dtype dtype = Dtype::f32;      ///< type in which it is stored
  Dtype judged_as = Dtype::f32;  ///< type whose range is used
  NumericRange range;
};

/// The values of a training step, layer by layer in the order of calls. `judged_as` replaces each layer's type of
/// computation. Gradients include the loss scale if the trainer uses one. Throws Error for a batch that does not fit
/// the model, or is on a device.
std::vector<LayerNumerics> measure_numerics(Trainer& trainer, const Element& batch, std::optional<Dtype> judged_as);

}  // namespace gpubench
