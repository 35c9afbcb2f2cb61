// A logical CPU device: its own memory pool and its own number of threads. Its streams run work immediately, in the
// calling thread, so every event is complete when it is recorded.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/device/memory_nodes.h"

namespace gpubench {

/// The most threads of a device: many more exhaust a process.
inline constexpr int most_cpu_threads = 4096;

struct CpuDeviceOptions {
  PoolOptions memory;
  int threads = 1;  ///< size of the OpenMP team that runs this device's kernels
  /// NUMA node of the team. The thread that queues work is not bound here but by its owner (BoundThread), because
  /// threads that it starts inherit the binding.
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
  std::atomic<Clock::rep> copy_ticks_{0};  // added up by the streams
  std::unique_ptr<Stream> stream_;
};

/// Assigns NUMA nodes to several devices, among the processors that this process may use. Leaves the devices unbound
/// when there is one device or one node, or when the environment binds OpenMP's threads (OMP_PROC_BIND,
/// GOMP_CPU_AFFINITY). A device with more threads than a node has processors gets no node.
void place_on_memory_nodes(std::vector<CpuDeviceOptions>& devices);

}  // namespace gpubench
