// A logical CPU device: its own memory pool and its own number of threads. Its streams do work at once, in the thread
// that queues it, so every event is done as soon as it is recorded.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/device/memory_nodes.h"

namespace gpubench {

struct CpuDeviceOptions {
  PoolOptions memory;
  int threads = 1;  ///< the OpenMP team of the kernels that run here
  /// Where the team runs. The thread that queues work is for its owner to bind (BoundThread): what it starts would
  /// stay there too.
  std::optional<MemoryNode> node = std::nullopt;
};

class HostDevice final : public Device {
 public:
  /// Throws Error when `options.threads` is below 1.
  HostDevice(DeviceId id, const CpuDeviceOptions& options);

  const DeviceId& id() const override { return id_; }
  std::string description() const override;
  const MemoryNode* memory_node() const override { return node_ ? &*node_ : nullptr; }
  MemoryPool& memory() override { return memory_; }
  Stream& stream() override { return *stream_; }
  std::unique_ptr<Stream> new_stream() override;
  std::unique_ptr<Event> new_event() override;
  void bind_to_thread() override;
  bool shares_host_memory() const override { return true; }
  std::optional<Seconds> copy_time() const override { return Clock::duration(copy_ticks_); }

  int threads() const { return threads_; }

 private:
  DeviceId id_;
  int threads_;
  std::optional<MemoryNode> node_;
  MemoryPool memory_;
  std::atomic<Clock::rep> copy_ticks_{0};  // the streams count it
  std::unique_ptr<Stream> stream_;
};

/// Gives several devices their nodes, among the processors that this process may use. They stay as they are where
/// there is one device or one node, and where the environment binds OpenMP's threads (OMP_PROC_BIND,
/// GOMP_CPU_AFFINITY). Devices with more threads than a node has processors lie on none.
void place_on_memory_nodes(std::vector<CpuDeviceOptions>& devices);

}  // namespace gpubench
