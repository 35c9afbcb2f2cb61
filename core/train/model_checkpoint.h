// Saves the model after every epoch, or only when a figure has improved.
#pragma once
#include <functional>
#include <string>

#include "core/train/callback.h"
#include "core/train/monitor.h"

namespace gpubench {

struct ModelCheckpointOptions {
  /// Folder, in which "{epoch}" stands for the epoch from 1 and "{val_loss}" for any figure.
  std::string path;
  std::string monitor = "val_loss";
  bool save_best_only = false;
  std::string mode = "auto";
  /// Where the filled path is written; may refuse it by an Error.
  std::function<std::string(const std::string& filled)> place = [](const std::string& filled) { return filled; };
};

class ModelCheckpoint final : public Callback {
 public:
  explicit ModelCheckpoint(ModelCheckpointOptions options);
  void on_train_begin(Training& training) override;
  void on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) override;

 private:
  ModelCheckpointOptions options_;
  Monitor monitor_;
};

}  // namespace gpubench
