// Keras' TensorBoard callback, as far as it writes scalars.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/codec/event_file.h"
#include "core/train/fit/callbacks.h"

namespace gpubench {

struct TensorBoardOptions {
  std::string log_dir = "logs";
  /// Also writes the figures so far after each so many batches, which waits for the device; 0: after epochs alone.
  std::int64_t update_freq = 0;
  bool write_steps_per_second = false;
  /// Maps a folder to the one to write into; may throw Error to refuse it.
  std::function<std::string(const std::string& folder)> place = [](const std::string& folder) { return folder; };
};

/// Writes figures into the folders train and validation, with Keras' tags and steps: epochs count from 0, batches
/// from 1.
class TensorBoard final : public Callback {
 public:
  explicit TensorBoard(TensorBoardOptions options) : options_(std::move(options)) {}

  void on_train_begin(Training& training) override;
  void on_epoch_begin(Training& training, std::int64_t epoch) override;
  void on_step(std::int64_t step) override;
  bool wants_steps() const override { return options_.update_freq > 0; }
  void on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) override;
  void on_inference_end(Trainer& trainer, StepPhase phase, const Logs& logs) override;
  void leave() noexcept override;

 private:
  EventFile& file(std::optional<EventFile>& file, const char* folder);
  EventFile& of_training() { return file(train_, "train"); }
  EventFile& of_validation() { return file(validation_, "validation"); }

  TensorBoardOptions options_;
  std::optional<EventFile> train_, validation_;
  Training* training_ = nullptr;
  std::int64_t batches_ = 0;
  Stopwatch epoch_time_, batch_time_;
};

}  // namespace gpubench
