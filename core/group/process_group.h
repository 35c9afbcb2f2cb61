// The processes that run one script together; each is a rank with a share of the devices. This interface exchanges
// short texts and numbers, rarely; tensors go through a communicator (core/comm).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"

namespace gpubench {

/// Of a program that ends with an error.
inline constexpr int failed_exit_status = 2;

/// What a process contributes when it joins its group.
struct JoinOptions {
  /// Program, version and commit; must be equal in all processes.
  std::string program;
  /// Script, its contents and arguments; must be equal in all processes.
  std::string task;
  /// How long other ranks wait for a rank.
  Seconds peer_timeout{60.0};
  /// Ends this process immediately; called by another thread if the process is still running some seconds after its
  /// group has ended for `reason`, or after the launcher asked it to end (empty reason). If unset, such a process
  /// continues.
  std::function<void(const std::string& reason)> end_process{};
};

class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The name of a rank in messages: "process 3 (worker, pid 4711)".
  virtual std::string name_of(int rank) const = 0;
  /// Number of the group's processes on this machine, and this process's index among them.
  virtual int local_size() const = 0;
  virtual int local_rank() const = 0;
  /// How many of these processes may run on the same processors; a launcher may give each its own.
  virtual int sharing_processors() const = 0;
  /// Process ids of the others among them, where this process can see them (not in another container).
  virtual std::vector<int> neighbours() const = 0;

  /// Collective calls, made by the script's thread of every rank in the same order. They throw PeerLost.
  virtual void barrier() = 0;
  /// The texts of all ranks, by rank, of any lengths.
  virtual std::vector<std::string> all_gather(const std::string& text) = 0;
  /// The concatenation of `mine` of all ranks, of equal length in each. Cheap enough for every step.
  virtual void all_gather(std::span<const std::int64_t> mine, std::span<std::int64_t> all) = 0;
  virtual std::string broadcast(const std::string& text, int root) = 0;

  /// Ends a part of the script (a point) and returns the texts of all ranks. A rank that failed in this part calls it
  /// too, with the reason in `failure` (else empty); other ranks that wait for it in the part then get PeerLost with
  /// that reason, and call conclude() as well.
  virtual std::vector<std::string> conclude(const std::string& text, const std::string& failure) = 0;

  /// Declares the end of the script; returns when all processes have reached it. If others wait for this process in an
  /// exchange, which cannot complete any more, they and this call throw PeerLost with that reason.
  virtual void leave() = 0;

  /// Progress of this rank, for messages of others if it is lost.
  virtual void set_step(std::int64_t step) noexcept = 0;
  /// Declares that this rank cannot continue: all others fail with `reason`, and should end with `exit_status` as this
  /// one does. The process should end soon.
  virtual void fail(const std::string& reason, int exit_status) noexcept = 0;
  /// Why the group has ended; empty while it has not. After the end, every call throws this.
  virtual std::string lost() const = 0;
  /// The exit status of the rank that failed first; failed_exit_status where a rank was lost.
  virtual int exit_status() const = 0;
  /// `stop` is called once, by another thread, when the group has ended or the launcher asks this process to end; it
  /// should stop running work. It is not called any more when on_end({}) has returned.
  virtual void on_end(std::function<void()> stop) = 0;
};

}  // namespace gpubench
