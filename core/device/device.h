// A place where kernels run: a memory pool and streams. Physical devices may be split into logical ones.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/device/memory_pool.h"
#include "core/device/stream.h"
#include "core/tensor/device_id.h"

namespace gpubench {

struct MemoryNode;

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceId& id() const = 0;
  /// What people call it: "AMD EPYC 9005, 2 threads".
  virtual std::string description() const = 0;
  /// Where it is plugged in, as the driver and NVML write it ("00000000:1B:00.0"); empty for the host's processor.
  virtual std::string bus_id() const { return {}; }
  /// The number of its physical device in traces (Span::gpu); none where no tracer follows it.
  virtual std::optional<int> tracer_index() const { return std::nullopt; }
  /// The part of the host's memory that this lies on: its threads run on the processors there. nullptr where it lies
  /// on none in particular.
  virtual const MemoryNode* memory_node() const { return nullptr; }
  virtual MemoryPool& memory() = 0;
  /// Memory of the host from which copies to here run while the host goes on: page-locked, for GPUs. nullptr where
  /// ordinary memory serves as well.
  virtual MemoryPool* host_memory() { return nullptr; }
  /// The queue of every kernel here and of every copy to or from the pool's memory, whichever runtime they come from:
  /// memory that was given back may be handed out while work with it is still queued, and only this order protects it.
  virtual Stream& stream() = 0;
  /// Another queue, for work that events tie to the memory it uses.
  virtual std::unique_ptr<Stream> new_stream() = 0;
  virtual std::unique_ptr<Event> new_event() = 0;
  /// Calls `queue` with a stream that keeps what is queued on it instead of running it. nullptr, without a call, where
  /// starting work one by one costs nothing that a recording would save.
  virtual std::unique_ptr<Recording> record(const std::function<void(Stream&)>& queue) {
    (void)queue;
    return nullptr;
  }
  /// Called by the host thread that is about to launch work here (selects the GPU, sizes the OpenMP team). Cheap when
  /// nothing changes.
  virtual void bind_to_thread() = 0;
  /// Whether kernels here read and write ordinary host memory in place, so that inputs need no copy.
  virtual bool shares_host_memory() const = 0;
  /// How long callers have spent in the copies of this device's streams so far; none where a device copies by itself,
  /// which a tracer sees.
  virtual std::optional<Seconds> copy_time() const { return std::nullopt; }
};

}  // namespace gpubench
