// Memory for elements on their way to a device: copied there on a stream of its own, beside the kernels. A slot is
// filled anew only after the work that read it, which an event in the kernels' stream marks, so that neither side waits
// on the host.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "core/data/cursor.h"
#include "core/device/device.h"

namespace gpubench {

class DeviceSlots {
 public:
  /// The device must outlive the elements.
  explicit DeviceSlots(Device& device);
  /// Waits for the copies.
  ~DeviceSlots();
  DeviceSlots(const DeviceSlots&) = delete;
  DeviceSlots& operator=(const DeviceSlots&) = delete;

  /// Starts copying `host`, which must stay as it is until the next call or finish(); `element` becomes what it will
  /// be on the device. For one thread at a time, the one that makes elements.
  void upload(const Element& host, Element& element);
  /// Waits for the latest upload.
  void finish();

  /// By the consumer, before it asks for an element: it has queued all that reads the elements that it let go of.
  void recycle();
  /// By the consumer, when it gets an element: what it queues from now on finds the element there.
  void arrive(const Element& element);

  /// What the copies took on the device.
  Seconds copy_time() const { return Seconds(copying_.get()); }
  Device& device() const { return device_; }

 private:
  struct Slot {
    Buffer memory;
    std::unique_ptr<Event> begun, filled;  // of the copy
    std::unique_ptr<Event> drained;        // of what read it, in the kernels' stream
    bool free = true;
  };

  std::shared_ptr<Slot> take(std::size_t bytes);
  std::shared_ptr<Slot> free_slot(std::size_t bytes);

  Device& device_;
  const std::unique_ptr<Stream> copies_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Slot>> slots_;  // in nobody's hands when this is the only owner
  std::shared_ptr<Slot> latest_;
  Tally<double> copying_;
};

}  // namespace gpubench
