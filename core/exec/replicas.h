// The replicas of a model in this process; each has a device, a thread, variables and a communicator. The first replica
// uses the script's own variables, which layers and optimizers hold. After every step the variables of all replicas are
// equal, byte by byte.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/error.h"
#include "core/comm/factory.h"
#include "core/device/bound_thread.h"
#include "core/exec/executor.h"
#include "core/exec/replica_threads.h"
#include "core/exec/runtime.h"

namespace gpubench {

struct ReplicaOptions {
  std::vector<DeviceId> devices;
  CrossDevice cross_device = CrossDevice::automatic;
  /// Each replica's share of a batch, in any unit; empty: equal shares.
  std::vector<double> shares{};
  /// Delay of each replica before a step, per example, to simulate a slow replica. Empty: none.
  std::vector<Seconds> delays{};
  /// Type in which float32 gradients are exchanged; none: float32.
  std::optional<Dtype> compression = std::nullopt;
  /// Gradients are exchanged in buckets of up to this many bytes.
  std::size_t bucket_bytes = default_bucket_bytes;
};

/// Rows of a batch, counted over the batches of all processes.
struct BatchShare {
  std::int64_t first = 0, rows = 0, total = 0;
  bool operator==(const BatchShare&) const = default;
};

class Replicas;

/// The replica whose step is being traced.
struct TracedReplica {
  const Replicas& replicas;
  BatchShare share;
};

/// A variable of the first replica, and its copies in the other replicas.
struct MirroredVariable {
  std::vector<VariablePtr> mirrors;  ///< by replica, the first one's variable included
  const std::atomic<std::uint64_t>* writes = nullptr;
  std::uint64_t seen = 0;  ///< the value of `writes` when all copies were last equal
};
using MirroredVariablePtr = std::shared_ptr<MirroredVariable>;

class Replicas {
 public:
  /// `first` is the runtime of the first device's replica. A collective call if `group` has other processes (nullptr:
  /// none). Throws Error for an empty list of devices, a missing or duplicate device, and options for another number of
  /// replicas.
  Replicas(Runtime& first, ReplicaOptions options, ProcessGroup* group);

  /// In this process.
  int size() const { return threads_.size(); }
  /// In all processes.
  int world_size() const { return communicators_[0]->size(); }
  const ReplicaOptions& options() const { return options_; }
  const DeviceId& device(int replica) const { return options_.devices[static_cast<std::size_t>(replica)]; }
  Runtime& runtime(int replica) { return replica == 0 ? first_ : *others_[static_cast<std::size_t>(replica) - 1]; }
  Communicator& communicator(int replica) { return *communicators_[static_cast<std::size_t>(replica)]; }
  ProcessGroup* group() const { return group_; }

  /// Creates the copies at the first call; they live as long as the returned pointer.
  MirroredVariablePtr mirrored(const VariablePtr& variable);
  /// Copies writes to the first replica's variable (except those of steps) to all replicas.
  void refresh(MirroredVariable& variable);

  /// Position of this process's `rows` within its group; a collective call. Throws PeerLost.
  BatchShare share(std::int64_t rows);
  /// Divides this process's share among its replicas, in proportion to their shares of the batch. Some may get none.
  std::vector<BatchShare> split(const BatchShare& share) const;

  /// Calls work(replica) for each replica on its own thread. If a replica fails, the waits of the others end and its
  /// exception is rethrown, a DeviceLost with the replica's device and rank; no step is possible afterwards.
  template <class Work>
  void step(Work&& work) {
    const BoundThread bound(nodes_[0]);
    const auto named = [&](int replica) {
      try {
        work(replica);
      } catch (const DeviceLost& lost) {
        throw_lost(replica, lost);
      }
    };
    threads_.run(named, [this](int replica, const std::exception_ptr& why) { abort(replica, why); });
  }
  /// The same for work without exchanges; after a failure, further calls are possible.
  template <class Work>
  void each(Work&& work) {
    const BoundThread bound(nodes_[0]);
    threads_.run(std::forward<Work>(work), [](int, const std::exception_ptr&) {});
  }

 private:
  void check_options() const;
  void abort(int replica, const std::exception_ptr& why) noexcept;
  [[noreturn]] void throw_lost(int replica, const DeviceLost& lost) const;

  Runtime& first_;
  ReplicaOptions options_;
  ProcessGroup* group_;
  /// By replica. A replica's thread stays bound to its node; the script's thread, which the first replica uses, is
  /// bound for each call.
  std::vector<const MemoryNode*> nodes_;
  std::vector<std::unique_ptr<Runtime>> others_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  std::unordered_map<const Variable*, std::weak_ptr<MirroredVariable>>
      mirrored_;  // owners of the weak pointers keep the keys alive
  ReplicaThreads threads_;
};
using ReplicasPtr = std::shared_ptr<Replicas>;

}  // namespace gpubench
