// The replicas of a model in this process: a device, a thread, variables and one end of a communicator each. The first
// is the world of the script: its variables are the ones that layers and optimizers hold, and the others' are equal to
// them, byte by byte, after every step.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/comm/factory.h"
#include "core/device/bound_thread.h"
#include "core/exec/executor.h"
#include "core/exec/replica_threads.h"
#include "core/exec/runtime.h"

namespace gpubench {

struct ReplicaOptions {
  std::vector<DeviceId> devices;
  CrossDevice cross_device = CrossDevice::automatic;
  /// Each replica's part of a batch, in any unit; empty: equal parts.
  std::vector<double> shares{};
  /// What each replica waits before a step, for each example that it takes: one that is slow on purpose. Empty:
  /// nothing.
  std::vector<Seconds> delays{};
  /// What float32 gradients travel as; none: as they are.
  std::optional<Dtype> compression = std::nullopt;
  /// Gradients travel together up to so many bytes.
  std::size_t bucket_bytes = default_bucket_bytes;
};

/// Rows of a batch, of those that all processes have together.
struct BatchShare {
  std::int64_t first = 0, rows = 0, total = 0;
  bool operator==(const BatchShare&) const = default;
};

class Replicas;

/// The replica whose step a trace becomes.
struct TracedReplica {
  const Replicas& replicas;
  BatchShare share;
};

/// A variable of the first replica, and what stands for it in the others.
struct MirroredVariable {
  std::vector<VariablePtr> mirrors;  ///< by replica; the variable itself comes first
  const std::atomic<std::uint64_t>* writes = nullptr;
  std::uint64_t seen = 0;  ///< of `writes`, when all were equal
};
using MirroredVariablePtr = std::shared_ptr<MirroredVariable>;

class Replicas {
 public:
  /// `first` belongs to the first device's replica. With other processes in `group` (nullptr: none) a collective call.
  /// Throws Error for no device, one that is not there or that is given twice, and options for another number of them.
  Replicas(Runtime& first, ReplicaOptions options, ProcessGroup* group);

  /// Of this process.
  int size() const { return threads_.size(); }
  /// Of all processes.
  int world_size() const { return communicators_[0]->size(); }
  const ReplicaOptions& options() const { return options_; }
  const DeviceId& device(int replica) const { return options_.devices[static_cast<std::size_t>(replica)]; }
  Runtime& runtime(int replica) { return replica == 0 ? first_ : *others_[static_cast<std::size_t>(replica) - 1]; }
  Communicator& communicator(int replica) { return *communicators_[static_cast<std::size_t>(replica)]; }
  ProcessGroup* group() const { return group_; }

  /// Its copies are made at the first call, and live as long as somebody holds what this returns.
  MirroredVariablePtr mirrored(const VariablePtr& variable);
  /// Gives all replicas what has been written to the first one's variable by others than steps.
  void refresh(MirroredVariable& variable);

  /// `rows` of this process among those of its group, in which all call it. Throws PeerLost.
  BatchShare share(std::int64_t rows);
  /// What of this process's share each replica takes: as many as it has parts of the batch. Some may get none.
  std::vector<BatchShare> split(const BatchShare& share) const;

  /// Calls work(replica) for each on its own thread. A replica that fails ends all waits for it, and this throws what
  /// it threw: no step can be taken after that.
  template <class Work>
  void step(Work&& work) {
    const BoundThread bound(nodes_[0]);
    threads_.run(std::forward<Work>(work), [this](int replica, const std::exception_ptr& why) { abort(replica, why); });
  }
  /// The same for work that exchanges nothing, after whose failure others may follow.
  template <class Work>
  void each(Work&& work) {
    const BoundThread bound(nodes_[0]);
    threads_.run(std::forward<Work>(work), [](int, const std::exception_ptr&) {});
  }

 private:
  void check_options() const;
  void abort(int replica, const std::exception_ptr& why) noexcept;

  Runtime& first_;
  ReplicaOptions options_;
  ProcessGroup* group_;
  /// By replica. Its thread stays on its node; the script's, which the first one uses, comes there for each call.
  std::vector<const MemoryNode*> nodes_;
  std::vector<std::unique_ptr<Runtime>> others_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  std::unordered_map<const Variable*, std::weak_ptr<MirroredVariable>> mirrored_;  // which keep the keys alive
  ReplicaThreads threads_;
};
using ReplicasPtr = std::shared_ptr<Replicas>;

}  // namespace gpubench
