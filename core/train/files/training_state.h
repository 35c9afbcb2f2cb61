// Everything that a training needs to continue as if it had never stopped: variables of model and optimizer, the
// metrics' running means, and the position. One safetensors file, which replaces the previous one when it is complete.
#pragma once
#include <cstdint>
#include <filesystem>

#include "core/train/trainer.h"

namespace gpubench {

struct TrainingPosition {
  std::int64_t epoch = 0;  ///< the running epoch
  std::int64_t step = 0;   ///< completed steps of this epoch
  /// The running epoch of the dataset, and its consumed elements. Differs from `epoch` if steps_per_epoch is given.
  std::int64_t data_epoch = 0;
  std::int64_t data_position = 0;
};

/// The trainer must be prepared. Waits for the devices.
void save_training(Trainer& trainer, const std::filesystem::path& file, const TrainingPosition& position);
/// Throws Error naming the file if it is no saved training, or of another model or optimizer.
TrainingPosition load_training(Trainer& trainer, const std::filesystem::path& file);

}  // namespace gpubench
