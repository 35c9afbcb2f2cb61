// Copies of tensors between memories: from one device to another, and beside a device's kernels.
#pragma once
#include <cstddef>
#include <memory>

#include "core/device/device.h"

namespace gpubench {

/// A copy from one device's memory to another's. It runs on a device that can address both: the one with memory of its
/// own, or the destination where both have.
class DeviceCopy {
 public:
  DeviceCopy(Device& source, Device& destination);

  /// Queues the copy: after what is queued on the source, and before what the destination queues next.
  void queue(std::byte* to, const std::byte* from, std::size_t bytes);
  /// Work queued on the source from now on starts after the latest copy, so that it may overwrite what is copied.
  void release_source() { source_.stream().wait_for(*copied_); }

 private:
  Device& source_;
  Device& destination_;
  Device& copier_;
  std::unique_ptr<Event> source_ready_, copied_;
};

/// A copy with fixed memory on a stream of its own, beside the device's kernels.
class SideCopy final : public SideWork {
 public:
  /// `beside` outlives it.
  SideCopy(Device& device, Stream& beside, std::byte* to, const std::byte* from, std::size_t bytes);
  void begin(Stream& kernels) override;
  void end(Stream& kernels) override { kernels.wait_for(*copied_); }

 private:
  Stream& beside_;
  std::byte* to_;
  const std::byte* from_;
  std::size_t bytes_;
  std::unique_ptr<Event> reached_, copied_;
};

}  // namespace gpubench
