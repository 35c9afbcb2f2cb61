#include "core/train/early_stopping.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/train/trainer.h"

namespace gpubench {

EarlyStopping::EarlyStopping(EarlyStoppingOptions options)
    : options_(std::move(options)), monitor_("EarlyStopping", options_.monitor, options_.mode, options_.min_delta) {
  if (options_.patience < 0) {
    throw Error(fmt::format("EarlyStopping: patience must be at least 0, got {}", options_.patience));
  }
}

void EarlyStopping::on_train_begin(Training&) {
  monitor_.reset();
  waited_ = 0;
  stopped_epoch_ = -1;
  best_epoch_ = 0;
  best_weights_.clear();
}

void EarlyStopping::on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) {
  if (epoch < options_.start_from_epoch) return;
  if (monitor_.improves(logs)) {
    waited_ = 0;
    best_epoch_ = epoch;
    if (options_.restore_best_weights) best_weights_ = training.trainer.weights();
    return;
  }
  if (++waited_ < options_.patience) return;
  stopped_epoch_ = epoch;
  training.stop = true;
}

void EarlyStopping::on_train_end(Training& training) {
  if (!best_weights_.empty()) training.trainer.set_weights(best_weights_);
  best_weights_.clear();
}

}  // namespace gpubench
