// An ordered queue of work on one device, events that order such queues among each other, and recorded work.
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
  /// Device time between two marks that are both done, of events made by Device::new_timed_event().
  virtual Seconds since(const Event& earlier) const = 0;
};

class Stream {
 public:
  virtual ~Stream() = default;
  /// Moves `event`, an event of the same device (Device::new_event), to the end of the queued work.
  virtual void record(Event& event) = 0;
  /// Makes work that is queued here later start after `event`; does not block the caller.
  virtual void wait_for(const Event& event) = 0;
  /// Queues a copy between two memories that the device can address, including host memory.
  virtual void copy(void* destination, const void* source, std::size_t bytes) = 0;
  /// Blocks until everything queued is done.
  virtual void synchronize() = 0;
};

/// Work that was recorded once (Device::record) and is launched with a single call: a CUDA graph.
class Recording {
 public:
  virtual ~Recording() = default;
  /// Queues all of it, on the memory with which it was recorded.
  virtual void launch(Stream& stream) = 0;
};

/// Work on fixed memory that runs beside the kernels of a stream, once for each pair of begin() and end().
class SideWork {
 public:
  virtual ~SideWork() = default;
  /// Starts it after the work queued on `kernels`, which continues. begin() and end() may be recorded (Device::record)
  /// unless the host takes part in the work.
  virtual void begin(Stream& kernels) = 0;
  /// Makes work that is queued on `kernels` later start after it.
  virtual void end(Stream& kernels) = 0;
};

}  // namespace gpubench
