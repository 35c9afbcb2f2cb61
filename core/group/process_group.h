// The processes that run one script together, each a rank with a share of the devices. Here they exchange short texts
// and numbers, seldom; tensors go through a communicator (core/comm).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"

namespace gpubench {

/// What a process brings to its group.
struct JoinOptions {
  /// Program, version and commit; all must be alike.
  std::string program;
  /// Script, its contents and arguments; all must be alike.
  std::string task;
  /// How long a rank may be waited for.
  Seconds peer_timeout{60.0};
  /// Ends this process at once, by another thread: the process still runs some seconds after the group has come to its
  /// end for `reason`, or after the launcher has asked it to end (an empty reason). Without it such a process goes on.
  std::function<void(const std::string& reason)> end_process{};
};

class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// "process 3 (worker, pid 4711)": how messages call a rank.
  virtual std::string name_of(int rank) const = 0;
  /// Processes of the group on this one's machine, and this one's place among them.
  virtual int local_size() const = 0;
  virtual int local_rank() const = 0;
  /// Of local_size(), those that may run on the same processors: a launcher may have given each its own.
  virtual int sharing_processors() const = 0;

  /// Collective calls, by the script's thread of every rank in the same order. They throw PeerLost.
  virtual void barrier() = 0;
  /// The texts of all ranks, by rank; any lengths.
  virtual std::vector<std::string> all_gather(const std::string& text) = 0;
  /// `mine` of all ranks, one after the other; of one length everywhere. Small and often: before every step.
  virtual void all_gather(std::span<const std::int64_t> mine, std::span<std::int64_t> all) = 0;
  virtual std::string broadcast(const std::string& text, int root) = 0;

  /// Ends a part of the script (a point) and returns the texts of all ranks. A rank that failed within the part calls
  /// it, too, with the reason in `failure` (else empty): the waits of the others for what that rank left out throw
  /// PeerLost with the reason, so that they come here.
  virtual std::vector<std::string> conclude(const std::string& text, const std::string& failure) = 0;

  /// The script has come to its end here: returns when it has in all processes. Where others wait for this one in an
  /// exchange, which can never be complete, this and they throw PeerLost that says so.
  virtual void leave() = 0;

  /// How far this rank is, for what others say when it is lost.
  virtual void set_step(std::int64_t step) noexcept = 0;
  /// This rank cannot go on: all others end with that. The process should end soon.
  virtual void fail(const std::string& reason) noexcept = 0;
  /// Why the group is at its end; empty while it is not. Every call throws that from then on.
  virtual std::string lost() const = 0;
  /// `stop` is called once, by another thread, when the group has come to its end or the launcher asks this process to
  /// end: what is running should stop.
  virtual void on_end(std::function<void()> stop) = 0;
};

}  // namespace gpubench
