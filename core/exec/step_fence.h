// Bounds how far the host runs ahead of the devices in a loop that launches without waiting: a step that ends waits for
// the end of the one before the previous one, as executors do by themselves.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "core/exec/runtime.h"

namespace gpubench {

class StepFence {
 public:
  static constexpr int steps_in_flight = 2;

  /// Of the devices that have memory of their own; the host's processor does its work at once.
  explicit StepFence(Runtime& runtime);

  bool empty() const { return ends_.empty(); }
  void end_step();

 private:
  struct End {
    Device* device;
    std::array<std::unique_ptr<Event>, steps_in_flight> events;
  };
  std::vector<End> ends_;
  std::size_t turn_ = 0;
};

}  // namespace gpubench
