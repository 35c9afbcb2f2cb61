#include "core/train/fit/tensorboard.h"

#include <algorithm>

#include "core/train/trainer.h"

namespace gpubench {

void TensorBoard::on_train_begin(Training& training) {
  training_ = &training;
  batches_ = 0;
}

void TensorBoard::leave() noexcept {
  training_ = nullptr;
  train_.reset();
  validation_.reset();
}

EventFile& TensorBoard::file(std::optional<EventFile>& file, const char* folder) {
  if (!file) file.emplace(options_.place(std::filesystem::path(options_.log_dir) / folder));
  return *file;
}

void TensorBoard::on_epoch_begin(Training&, std::int64_t) {
  epoch_time_.restart();
  batch_time_.restart();
}

void TensorBoard::on_step(std::int64_t) {
  if (++batches_ % options_.update_freq != 0) return;
  for (const auto& [name, value] : training_->trainer.read_metrics())
    of_training().add_scalar("batch_" + name, value, batches_);
  if (!options_.write_steps_per_second) return;
  const double seconds = batch_time_.elapsed().count();
  of_training().add_scalar("batch_steps_per_second", static_cast<double>(options_.update_freq) / seconds, batches_);
  batch_time_.restart();
}

void TensorBoard::on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) {
  constexpr std::string_view validation = "val_";
  for (const auto& [name, value] : logs) {
    const bool validated = name.starts_with(validation);
    EventFile& file = validated ? of_validation() : of_training();
    file.add_scalar("epoch_" + (validated ? name.substr(validation.size()) : name), value, epoch);
  }
  if (find_log(logs, "learning_rate") == nullptr)
    of_training().add_scalar("epoch_learning_rate", training.trainer.learning_rate(), epoch);
  if (!options_.write_steps_per_second) return;
  const double seconds = epoch_time_.elapsed().count();
  of_training().add_scalar("epoch_steps_per_second", static_cast<double>(training.steps) / seconds, epoch);
}

void TensorBoard::on_inference_end(Trainer& trainer, StepPhase phase, const Logs& logs) {
  const VariablePtr counter = trainer.config().optimizer ? trainer.config().optimizer->iterations() : nullptr;
  if (phase != StepPhase::evaluation) return;
  trainer.runtime().synchronize();
  const std::int64_t iterations = counter ? trainer.runtime().variables().read(*counter).values<std::int64_t>()[0] : 0;
  for (const auto& [name, value] : logs)
    of_validation().add_scalar("evaluation_" + name + "_vs_iterations", value, iterations);
}

}  // namespace gpubench
