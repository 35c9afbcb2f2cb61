// All that a training needs to go on as if it had never stopped: the model's variables, the optimizer's, the
// metrics' running means, and how far it is. One safetensors file, which replaces the one before it when it is
// complete.
#pragma once
#include <cstdint>
#include <filesystem>

#include "core/train/trainer.h"

namespace gpubench {

struct TrainingPosition {
  std::int64_t epoch = 0;  ///< that is under way
  std::int64_t step = 0;   ///< steps of it that are done
  /// The epoch of the dataset that is being read, and elements of it that are used: another one than `epoch` where
  /// steps_per_epoch is given.
  std::int64_t data_epoch = 0;
  std::int64_t data_position = 0;
};

/// The trainer must be prepared. Waits for the devices.
void save_training(Trainer& trainer, const std::filesystem::path& file, const TrainingPosition& position);
/// Throws Error naming the file when it is no saved training or of another model or optimizer.
TrainingPosition load_training(Trainer& trainer, const std::filesystem::path& file);

}  // namespace gpubench
