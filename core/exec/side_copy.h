// A copy that runs beside a device's kernels, on a stream of its own, between two marks in theirs.
#pragma once
#include <cstddef>
#include <memory>

#include "core/device/device.h"

namespace gpubench {

class SideCopy {
 public:
  /// `beside` outlives it.
  SideCopy(Device& device, Stream& beside)
      : beside_(beside), reached_(device.new_event()), copied_(device.new_event()) {}

  /// Queues the copy behind what is queued on `kernels`, which goes on. Both may be recorded.
  void begin(Stream& kernels, std::byte* to, const std::byte* from, std::size_t bytes) {
    kernels.record(*reached_);
    beside_.wait_for(*reached_);
    beside_.copy(to, from, bytes);
    beside_.record(*copied_);
  }
  /// What is queued on `kernels` from now on starts after the copy.
  void join(Stream& kernels) { kernels.wait_for(*copied_); }

 private:
  Stream& beside_;
  std::unique_ptr<Event> reached_, copied_;
};

}  // namespace gpubench
