// The memory of a model's training step: predicted before it is allocated, or of existing plans.
#pragma once
#include <span>
#include <vector>

#include "core/data/dataset.h"
#include "core/exec/plan/plan_memory.h"
#include "core/train/trainer.h"

namespace gpubench {

/// The memory for training on batches of these types (in host memory), by device: plans a step without allocating its
/// memory. The model must be compiled and have a known input; its variables are created if needed. Throws Error for
/// eager execution.
std::vector<DeviceMemory> predict_training_memory(Trainer& trainer, TensorTypes element);

/// Of the largest plan used for training so far; empty before the first step. Throws Error for eager execution.
std::vector<DeviceMemory> training_memory(Trainer& trainer);

/// The types of a batch of `batch_size` examples: inputs, then labels in the outputs' shapes, or class indices.
/// Floating types are float32 for every policy. Throws Error if the model's input is unknown.
std::vector<TensorType> batch_types(const Trainer& trainer, std::int64_t batch_size);
/// The types of a full batch of `dataset`. Throws Error if an extent other than the first varies.
std::vector<TensorType> batch_types(const Dataset& dataset);

}  // namespace gpubench
