// Limits how far the host runs ahead of devices with asynchronous launches: a step waits for the one before the
// previous one, like the graph executor's two input slots.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "core/device/device.h"

namespace gpubench {

class StepFence {
 public:
  static constexpr int steps_in_flight = 2;

  /// Adds `device` unless it is already there. Devices that work in host memory need no fence: their work is complete
  /// when its launch returns.
  void add(Device& device);
  /// The same at the end of the first step that finds the device in use: until then it has no work.
  void add_once_used(Device& device);
  bool empty() const { return ends_.empty(); }

  /// Blocks until the step before the previous one is complete.
  void begin_step();
  void end_step();
  /// Blocks until all steps are complete.
  void wait();

 private:
  struct End {
    Device* device;
    std::array<std::unique_ptr<Event>, steps_in_flight> events;  // used in turn
  };
  std::vector<End> ends_;
  std::vector<Device*> unused_;
  std::size_t turn_ = 0;
};

}  // namespace gpubench
