#include "core/exec/step_fence.h"

#include <algorithm>

namespace gpubench {

void StepFence::add(Device& device) {
  const bool known = std::ranges::any_of(ends_, [&](const End& end) { return end.device == &device; });
  if (known || device.shares_host_memory()) return;
  ends_.push_back({&device, {device.new_event(), device.new_event()}});
}

void StepFence::add_once_used(Device& device) {
  if (device.in_use()) {
    add(device);
  } else {
    unused_.push_back(&device);
  }
}

void StepFence::begin_step() {
  turn_ = (turn_ + 1) % steps_in_flight;
  for (const End& end : ends_) end.events[turn_]->wait();
}

void StepFence::end_step() {
  std::erase_if(unused_, [this](Device* device) {
    if (!device->in_use()) return false;
    add(*device);
    return true;
  });
  for (const End& end : ends_) end.device->stream().record(*end.events[turn_]);
}

void StepFence::wait() {
  for (const End& end : ends_) end.device->stream().synchronize();
}

}  // namespace gpubench
