// The memory of a model's training step: predicted before any of it is taken, and of the plans that were made.
#pragma once
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/exec/plan/plan_memory.h"
#include "core/train/trainer.h"

namespace gpubench {

/// No choice of layers brings a step within recompute_budget.
class OverRecomputeBudget : public Error {
 public:
  using Error::Error;
};

/// What training on batches of these types (in host memory) will take, by devices: the plan of a step with everything
/// but the memory. Needs a compiled model whose input is known; makes its variables where they are not yet made. Throws
/// Error for eager execution.
std::vector<DeviceMemory> predict_training_memory(Trainer& trainer, std::span<const TensorType> element);

/// `trainer`'s configuration with the layers that recompute_budget asks to be recomputed for such batches, as
/// choose_recomputed() finds them. As it is where there is no budget. Throws Error where no set is enough.
CompileConfig recomputed_within(Trainer& trainer, std::span<const TensorType> element);

/// Of the plan that takes most among those that were trained with; empty before the first step. Throws Error for eager
/// execution.
std::vector<DeviceMemory> training_memory(Trainer& trainer);

/// A batch of so many examples as the model and its losses take it: inputs, then labels in the outputs' shapes, or
/// class indices; numbers that are not whole in float32, whatever the model computes in. Throws Error when the model's
/// input is not known.
std::vector<TensorType> batch_types(const Trainer& trainer, std::int64_t batch_size);
/// A whole batch of `dataset`. Throws Error where another extent than the first varies.
std::vector<TensorType> batch_types(const Dataset& dataset);

std::size_t total(std::span<const DeviceMemory> memory);

}  // namespace gpubench
