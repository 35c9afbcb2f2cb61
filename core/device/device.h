// A place where kernels run: a memory pool and streams. Physical devices may be split into logical ones.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/device/device_slice.h"
#include "core/device/memory_pool.h"
#include "core/device/stream.h"
#include "core/tensor/device_id.h"

namespace gpubench {

struct MemoryNode;
struct RecordedWork;

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceId& id() const = 0;
  /// A name for people: "AMD EPYC 9005, 2 threads".
  virtual std::string description() const = 0;
  /// PCI address as the driver writes it ("00000000:1B:00.0"); empty for the host's processor.
  virtual std::string bus_id() const { return {}; }
  /// The slice that the device is; nullopt for a whole device. `bus_id` is that of the whole one.
  virtual std::optional<DeviceSlice> slice() const { return std::nullopt; }
  /// Number of its physical or emulated device in traces (Span::gpu); none if no tracer records it.
  virtual std::optional<int> tracer_index() const { return std::nullopt; }
  /// The NUMA node on whose processors the device's threads run; nullptr if it is bound to none.
  virtual const MemoryNode* memory_node() const { return nullptr; }
  /// Whether this process has begun to use the device. A device may get its context at the first use only: an
  /// allocation from a pool, a call of stream(), of new_...(), of record() or of bind_to_thread(). Each of them throws
  /// UnusableDevice if it gets none, and the next one tries again. Nothing else begins the use. Thread-safe.
  virtual bool in_use() const { return true; }
  virtual MemoryPool& memory() = 0;
  /// Host memory from which the device copies asynchronously: page-locked, for GPUs. nullptr if ordinary memory serves
  /// as well.
  virtual MemoryPool* host_memory() { return nullptr; }
  /// The stream of all kernels of the device and of all copies to or from its pool's memory, including work of
  /// libraries. The pool reuses released memory while work with it is still queued; only the order of this stream makes
  /// that safe.
  virtual Stream& stream() = 0;
  /// Another stream. Events must order its work against other uses of the same memory.
  virtual std::unique_ptr<Stream> new_stream() = 0;
  /// An event that orders work. Event::since needs new_timed_event().
  virtual std::unique_ptr<Event> new_event() = 0;
  /// An event that also takes the device's time, which costs the device a write between two pieces of work.
  virtual std::unique_ptr<Event> new_timed_event() { return new_event(); }
  /// Queues the pieces, in order, on a stream that records work instead of running it. Pieces that do not wait for each
  /// other (predecessors()) may then run side by side. Returns nullptr, and queues none, if recording would not make
  /// launches cheaper.
  virtual std::unique_ptr<Recording> record(std::span<const RecordedWork> work) {
    (void)work;
    return nullptr;
  }
  /// Must be called by the host thread that is about to launch work here (selects the GPU, sizes the OpenMP team).
  /// Cheap if nothing changes.
  virtual void bind_to_thread() = 0;
  /// Whether kernels here read and write ordinary host memory in place, so that inputs need no copy.
  virtual bool shares_host_memory() const = 0;
  /// For a device that computes nothing: what it is and how its times may be relied on, for all outputs. Its memory
  /// holds no values, and what is copied to the host is NaN. Empty for all other devices.
  virtual std::string emulation() const { return {}; }
  /// Highest rates per second that are known without a driver, such as "float32_flops_per_s" and "memory_bytes_per_s".
  virtual std::map<std::string, double> peaks() const { return {}; }
  /// The time of a copy on this device's streams, if it is known without the copy: of an emulated device.
  virtual std::optional<Seconds> known_copy_time(const void* destination, const void* source, std::size_t bytes) {
    (void)destination, (void)source, (void)bytes;
    return std::nullopt;
  }
  /// Total time that callers have spent in synchronous copies of this device's streams; none if copies are
  /// asynchronous, which a tracer shows.
  virtual std::optional<Seconds> copy_time() const { return std::nullopt; }
};

}  // namespace gpubench
