// An ordered queue of work on one device, the events that order queues among each other, and work that was recorded.
#pragma once
#include <cstddef>

#include "core/base/clock.h"

namespace gpubench {

/// A mark in a stream; reusable, so that a step records without allocating.
class Event {
 public:
  virtual ~Event() = default;
  virtual bool ready() const = 0;
  /// Blocks the calling thread until the work before the mark is done.
  virtual void wait() const = 0;
  /// Device time between two marks that are both done.
  virtual Seconds since(const Event& earlier) const = 0;
};

class Stream {
 public:
  virtual ~Stream() = default;
  /// Moves `event`, one of the same device (Device::new_event), to the end of what is queued here.
  virtual void record(Event& event) = 0;
  /// Work queued here later starts after `event`; does not block the caller.
  virtual void wait_for(const Event& event) = 0;
  /// Queues a copy between any two memories that the device can address, host memory included.
  virtual void copy(void* destination, const void* source, std::size_t bytes) = 0;
  /// Blocks until everything queued is done.
  virtual void synchronize() = 0;
};

/// Work that was recorded once (Device::record) and starts with a single call: a CUDA graph.
class Recording {
 public:
  virtual ~Recording() = default;
  /// Queues all of it, with the memory that it was recorded with.
  virtual void launch(Stream& stream) = 0;
};

/// Work with fixed memory that runs beside the kernels of a stream, once between each begin() and end().
class SideWork {
 public:
  virtual ~SideWork() = default;
  /// Starts it behind what is queued on `kernels`, which goes on. Both may be recorded (Device::record) unless the
  /// host has a part in it.
  virtual void begin(Stream& kernels) = 0;
  /// What is queued on `kernels` from now on starts after it.
  virtual void end(Stream& kernels) = 0;
};

}  // namespace gpubench
