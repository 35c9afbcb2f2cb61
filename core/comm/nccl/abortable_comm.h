// One rank's ncclComm_t, made so that none of its calls blocks: whether NCCL has finished is asked for again and again,
// and another thread may abort the communicator between any two calls. Every use of the handle holds the lock, because
// NCCL frees it when it aborts.
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
  /// Aborts it, if close() was not called.
  ~AbortableComm();
  AbortableComm(const AbortableComm&) = delete;
  AbortableComm& operator=(const AbortableComm&) = delete;

  /// Starts to join the others, with the calling thread's GPU. `label` of messages: "rank 1 (gpu:1)".
  void join(const std::string& label, int rank, int size, const ncclUniqueId& id);
  /// Makes `calls(comm)` one group. What it queues stands in the stream when settled() has said so. Throws PeerLost,
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
  /// Whether what was asked for is done, but for what streams do. Throws PeerLost, DeviceError naming `call`.
  bool settled(std::string_view call);
  /// The error that NCCL reports by itself, if any: for a thread that watches.
  std::optional<std::string> trouble();
  /// Throws PeerLost after an abort.
  void check_alive();
  /// Ends every call and collective under way; the first reason counts. Any thread.
  void abort(const std::string& reason) noexcept;
  /// Ends it in order when what was queued is done within `patience`, else aborts it. Recordings that hold its
  /// collectives must be gone: NCCL waits for them.
  void close(Seconds patience) noexcept;
  const std::string& label() const { return label_; }

 private:
  void throw_if_lost() const;
  void fail(ncclResult_t status, std::string_view call);

  std::string label_;
  std::mutex mutex_;
  ncclComm_t comm_ = nullptr;
  std::string lost_;  // why; empty while it works
};

}  // namespace gpubench::nccl
