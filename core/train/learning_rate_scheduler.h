// Sets the learning rate before every epoch from a function of the epoch and the rate so far.
#pragma once
#include <functional>

#include "core/train/callback.h"

namespace gpubench {

class LearningRateScheduler final : public Callback {
 public:
  using Function = std::function<double(std::int64_t epoch, double rate)>;
  explicit LearningRateScheduler(Function function) : function_(std::move(function)) {}

  void on_epoch_begin(Training& training, std::int64_t epoch) override;
  /// Adds the figure learning_rate.
  void on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) override;

 private:
  Function function_;
};

}  // namespace gpubench
