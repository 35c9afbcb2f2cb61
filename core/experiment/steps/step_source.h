// A source of training steps for a measurement: a model's step loop, or a hand-written loop.
#pragma once
#include <cstdint>

#include "core/base/clock.h"
#include "core/experiment/steps/input_window.h"
#include "core/experiment/steps/replica_watch.h"

namespace gpubench {

class StepSource {
 public:
  virtual ~StepSource() = default;
  /// Fetches an input and takes one step with it; restarts the input when it has ended. Throws Error if there is none
  /// at all.
  virtual void step() = 0;
  /// Number of examples of the latest step.
  virtual std::int64_t examples() const = 0;
  /// When the input of the latest step was fetched.
  virtual Clock::time_point fetched() const = 0;
  /// The source of the input; nullptr if none is fetched any more.
  virtual Epochs* epochs() { return nullptr; }
  /// Elements ready in the input's buffers, over all stages.
  virtual std::int64_t ready_elements() { return epochs() != nullptr ? epochs()->ready_elements() : 0; }
  /// Steps that may still run on a device when step() returns; step() waits for earlier ones.
  virtual int steps_in_flight() const { return 0; }
  /// Called between warm-up and measuring: restarts figures that accumulate over steps. May wait for the devices.
  virtual void reset_figures() {}
  /// After reset_figures(): the watch of the replicas that take the steps; nullptr without replicas.
  virtual ReplicaWatch* replicas() { return nullptr; }
};

}  // namespace gpubench
