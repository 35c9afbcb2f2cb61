// Bounds how far the host runs ahead of the devices where work is launched without waiting: a step waits for the one
// before the previous one, as the graph executor's input slots make it.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "core/device/device.h"

namespace gpubench {

class StepFence {
 public:
  static constexpr int steps_in_flight = 2;

  /// Watches `device` too, unless it is watched already. Devices that work in the host's memory need no watching: their
  /// work is done when its launch returns.
  void add(Device& device);
  bool empty() const { return ends_.empty(); }

  /// Blocks until the step before the previous one is done.
  void begin_step();
  void end_step();
  /// Blocks until every step is done.
  void wait();

 private:
  struct End {
    Device* device;
    std::array<std::unique_ptr<Event>, steps_in_flight> events;  // used in turn
  };
  std::vector<End> ends_;
  std::size_t turn_ = 0;
};

}  // namespace gpubench
