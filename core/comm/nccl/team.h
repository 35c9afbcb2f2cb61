// The ranks of this process in one communicator, and a thread that watches them: when NCCL reports an error, or a
// collective exceeds its time limit, it ends the waits of all ranks.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/comm/nccl/nccl_functions.h"
#include "core/device/device.h"
#include "core/group/process_group.h"

namespace gpubench::nccl {

/// One rank's ncclComm_t in non-blocking mode: completion is polled, and another thread may abort the communicator
/// between any two calls. Every use of the handle holds the lock, because aborting frees it.
class AbortableComm {
 public:
  AbortableComm() = default;
  /// Aborts the communicator if close() was not called.
  ~AbortableComm();
  AbortableComm(const AbortableComm&) = delete;
  AbortableComm& operator=(const AbortableComm&) = delete;

  /// Starts to join the other ranks, on the calling thread's GPU. `label`: the rank's name in messages, "rank 1
  /// (gpu:1)".
  void join(const std::string& label, int rank, int size, const ncclUniqueId& id);
  /// Runs `calls(comm)` as one NCCL group. The work is in the stream once completed() returns true. Throws PeerLost,
  /// DeviceError.
  template <class Calls>
  void queue(std::string_view call, const Calls& calls) {
    const std::lock_guard lock(mutex_);
    throw_if_lost();
    check(functions().group_start(), "ncclGroupStart", comm_);
    const ncclResult_t called = calls(comm_);
    const ncclResult_t ended = functions().group_end();
    check(called, call, comm_);
    check(ended, call, comm_);
  }
  /// Whether the host's part of all requests is done (streams may still run). Throws PeerLost, or DeviceError naming
  /// `call`.
  bool completed(std::string_view call);
  /// An asynchronous error reported by NCCL, if any; for the watching thread.
  std::optional<std::string> trouble();
  /// Throws PeerLost after an abort.
  void check_alive();
  /// Ends all running calls and collectives; the first reason counts. Thread-safe.
  void abort(const std::string& reason) noexcept;
  /// Closes the communicator once queued work is done; aborts it if that takes longer than `patience`. Recordings of
  /// its collectives must be destroyed before, because NCCL waits for them.
  void close(Seconds patience) noexcept;
  const std::string& label() const { return label_; }

 private:
  void throw_if_lost() const;
  void fail(ncclResult_t status, std::string_view call);

  std::string label_;
  std::mutex mutex_;
  ncclComm_t comm_ = nullptr;
  std::string lost_;  // reason of the failure; empty while it works
};

/// Detects that a rank's queued work makes no progress. It keeps two events in the rank's streams: the watching thread
/// checks the older one; once that is reached, the newer one takes its place. So each call costs one event, however
/// much is queued.
class StallWatch {
 public:
  /// `device` must outlive it.
  explicit StallWatch(Device& device);
  /// From now on, watches the work queued on `stream`, which must not be recording.
  void expect(Stream& stream);
  /// Time without progress while work is queued; none if nothing is queued. Binds the device to the calling thread.
  /// Thread-safe.
  std::optional<Seconds> stalled();

 private:
  Device& device_;
  std::mutex mutex_;
  std::unique_ptr<Event> watched_, newer_;
  bool waits_ = false, has_newer_ = false;
  Clock::time_point since_;
};

struct Rank {
  explicit Rank(Device& device) : stall_watch(device) {}
  AbortableComm comm;
  StallWatch stall_watch;
};

class Team {
 public:
  /// `group` (may be null) must outlive the team and is told of failures. `patience`: limit for every operation.
  Team(std::span<Device* const> devices, ProcessGroup* group, Seconds patience);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  Rank& rank(std::size_t local) { return *ranks_[local]; }
  Seconds patience() const { return patience_; }
  /// Starts watching; the ranks must have joined.
  void watch();
  /// Blocks until the host's part of the requests of `rank` is done (streams may still run). Throws PeerLost,
  /// DeviceError.
  void settle(Rank& rank, std::string_view call);
  void abort(const std::string& reason) noexcept;

 private:
  void look();

  ProcessGroup* group_;
  Seconds patience_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::mutex aborting_;
  bool aborted_ = false;
  std::mutex sleeping_;
  std::condition_variable_any woken_;
  std::jthread watcher_;  // the last member, so that it ends first
};

}  // namespace gpubench::nccl
