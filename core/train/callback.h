// What happens around epochs and steps of fit: a callback sees the figures and may change the learning rate, stop the
// training or save the model.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "core/train/metric_states.h"

namespace gpubench {

class Trainer;

/// A training under way, as callbacks see it.
struct Training {
  Trainer& trainer;
  std::int64_t epochs = 1;
  /// Steps of an epoch; 0 while that is not known.
  std::int64_t steps = 0;
  /// Whether it goes on from a saved one.
  bool resumed = false;
  /// Set to end the training after the current epoch.
  bool stop = false;
};

class Callback {
 public:
  virtual ~Callback() = default;
  virtual void on_train_begin(Training&) {}
  virtual void on_epoch_begin(Training&, std::int64_t /*epoch*/) {}
  /// `logs` has the epoch's figures so far. Reading them waits for the device, so it is called only if wants_batches().
  virtual void on_batch_end(Training&, std::int64_t /*batch*/, const Logs& /*logs*/) {}
  /// `logs` has loss, metrics and val_...; what is added here goes into the history.
  virtual void on_epoch_end(Training&, std::int64_t /*epoch*/, Logs& /*logs*/) {}
  virtual void on_train_end(Training&) {}
  virtual bool wants_batches() const { return false; }
  /// After every step, without waiting for the device; only if wants_steps().
  virtual void on_step(std::int64_t /*step*/) {}
  virtual bool wants_steps() const { return false; }
};
using CallbackPtr = std::shared_ptr<Callback>;

}  // namespace gpubench
