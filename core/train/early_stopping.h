// Ends training when a figure has not improved for a number of epochs, and can give back the best weights.
#pragma once
#include <string>
#include <vector>

#include "core/tensor/host_tensor.h"
#include "core/train/callback.h"
#include "core/train/monitor.h"

namespace gpubench {

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;
  std::int64_t patience = 0;
  std::string mode = "auto";
  bool restore_best_weights = false;
  std::int64_t start_from_epoch = 0;
};

class EarlyStopping final : public Callback {
 public:
  explicit EarlyStopping(EarlyStoppingOptions options);

  void on_train_begin(Training& training) override;
  void on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) override;
  void on_train_end(Training& training) override;

  /// The epoch after which it stopped, from 0; -1 when it did not.
  std::int64_t stopped_epoch() const { return stopped_epoch_; }
  std::int64_t best_epoch() const { return best_epoch_; }

 private:
  EarlyStoppingOptions options_;
  Monitor monitor_;
  std::int64_t waited_ = 0, stopped_epoch_ = -1, best_epoch_ = 0;
  std::vector<HostTensor> best_weights_;
};

}  // namespace gpubench
