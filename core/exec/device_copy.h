// Copies of tensors from one device to another, and copies beside a device's kernels.
#pragma once
#include <cstddef>
#include <memory>

#include "core/device/device.h"

namespace gpubench {

/// A copy from one device's memory to another's. It runs on a device that can address both: the one with its own
/// memory, or the destination if both have their own.
class DeviceCopy {
 public:
  /// Throws Error for a copy from an emulated device to a GPU.
  DeviceCopy(Device& source, Device& destination);

  /// Queues the copy after the work queued on the source, and before work queued later on the destination.
  void queue(std::byte* to, const std::byte* from, std::size_t bytes);
  /// Makes work that is queued on the source later start after the latest copy, so that it may overwrite the copied
  /// memory.
  void release_source() { source_.stream().wait_for(*copied_); }

 private:
  Device& source_;
  Device& destination_;
  Device& copier_;
  std::unique_ptr<Event> source_ready_, copied_;
};

/// A copy with fixed memory on its own stream, beside the device's kernels.
class SideCopy final : public SideWork {
 public:
  /// `beside` must outlive it.
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
