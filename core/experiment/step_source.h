// Training steps as a measurement sees them: one after the other, from a model's step loop or from a loop written by
// hand.
#pragma once
#include <cstdint>

#include "core/base/clock.h"
#include "core/experiment/input_window.h"
#include "core/experiment/replica_watch.h"

namespace gpubench {

class StepSource {
 public:
  virtual ~StepSource() = default;
  /// Fetches an input and takes one step with it; starts the input anew when it has ended. Throws Error when there is
  /// none at all.
  virtual void step() = 0;
  /// Examples of the latest step.
  virtual std::int64_t examples() const = 0;
  /// When the latest step had its input.
  virtual Clock::time_point fetched() const = 0;
  /// Where the input comes from; nullptr where none is fetched any more.
  virtual Epochs* epochs() { return nullptr; }
  /// Elements that lie ready in the input's buffers, of all its stages together.
  virtual std::int64_t ready_elements() { return epochs() != nullptr ? epochs()->ready_elements() : 0; }
  /// Steps that may be under way on a device when step() returns: it waits for those before them.
  virtual int steps_in_flight() const { return 0; }
  /// Called between warm-up and measuring: figures that accumulate over steps start here.
  virtual void reset_figures() {}
  /// After reset_figures(): watches the replicas that take the steps; nullptr without replicas.
  virtual ReplicaWatch* replicas() { return nullptr; }
};

}  // namespace gpubench
