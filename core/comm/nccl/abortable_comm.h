// One rank's ncclComm_t in non-blocking mode: completion is polled, and another thread may abort the communicator
// between any two calls. Every use of the handle holds the lock, because aborting frees it.
#pragma once
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/comm/nccl/nccl_functions.h"

namespace gpubench::nccl {

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
  /// Runs `calls(comm)` as one NCCL group. The work is in the stream once settled() returns true. Throws PeerLost,
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
  bool settled(std::string_view call);
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

}  // namespace gpubench::nccl
