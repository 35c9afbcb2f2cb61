#include "core/train/learning_rate_scheduler.h"

#include "core/train/trainer.h"

namespace gpubench {

void LearningRateScheduler::on_epoch_begin(Training& training, std::int64_t epoch) {
  training.trainer.set_learning_rate(function_(epoch, training.trainer.learning_rate()));
}

void LearningRateScheduler::on_epoch_end(Training& training, std::int64_t, Logs& logs) {
  logs.emplace_back("learning_rate", training.trainer.learning_rate());
}

}  // namespace gpubench
