// The numbers of a model on one batch: the magnitudes of layers' outputs and of gradients, and how many of them a type
// of 16 bits loses. Measured on request, in a graph of its own that changes no variable.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/data/element.h"
#include "core/train/trainer.h"

namespace gpubench {

/// How a tensor's elements lie in a type's range.
struct NumericRange {
  std::int64_t elements = 0;
  std::int64_t zeros = 0;
  std::int64_t not_finite = 0;
  std::int64_t overflows = 0;   ///< finite, beyond the largest number of the type
  std::int64_t underflows = 0;  ///< not zero, below the smallest number that the type has with all its digits
  std::int64_t lost = 0;        ///< of the underflows: rounded to zero
  /// Magnitudes that are finite and not zero; 0 where there are none.
  double smallest = 0, largest = 0;
};

/// Throws Error for a type that is no floating-point one.
NumericRange numeric_range(std::span<const float> values, Dtype judged_as);

struct LayerNumerics {
  std::string layer;
  std::string value;  ///< "output", or the name of a variable: "kernel"
  bool gradient = false;
  Dtype dtype = Dtype::f32;      ///< what it is stored in
  Dtype judged_as = Dtype::f32;  ///< of which range it is counted
  NumericRange range;
};

/// A training step's values, layer by layer in the order of their calls. `judged_as` replaces the type that each layer
/// computes in. Gradients are those of the scaled loss where the trainer scales it. Throws Error for a batch that does
/// not fit the model, or lies on a device.
std::vector<LayerNumerics> measure_numerics(Trainer& trainer, const Element& batch, std::optional<Dtype> judged_as);

}  // namespace gpubench
