// When a group has lost one of its processes, judged from what each has said about itself: its heartbeats. Pure
// functions of these and the time, without sockets.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"

namespace gpubench {

struct WatchLimits {
  Seconds silence{5.0};   ///< without a heartbeat: the process is stopped, or its machine is gone
  Seconds absence{60.0};  ///< in which a rank does not come to an exchange that others wait in
  /// After which a rank whose script has ended is lost to others that still wait in an exchange. Long enough for
  /// messages that are still on their way between machines.
  Seconds departure{10.0};
  /// How long a process may still run after the end of its group. What rank 0 still writes (rows, tables, charts) takes
  /// longer than what the others do.
  Seconds grace_of_first{15.0}, grace_of_others{4.0};
};

/// What one process has last said, and when.
struct PeerState {
  Clock::time_point heard;
  std::int64_t step = 0;        ///< the last that it has taken; 0: none
  std::int64_t waited_ms = -1;  ///< how long it has waited for others; -1: it does not wait
  bool leaving = false;         ///< its script has ended in order, and it waits until all others' have
  bool left = false;            ///< it has closed its connection in order
};

class HeartbeatPolicy {
 public:
  /// Of the process `rank`; `names` by rank, for messages.
  HeartbeatPolicy(int rank, std::vector<std::string> names, WatchLimits limits)
      : rank_(rank), names_(std::move(names)), limits_(limits) {}

  /// Why the group is at its end; none while it is not. Rank 0 judges all processes, the others only rank 0, from which
  /// they hear about the rest. `peers` by rank.
  std::optional<std::string> verdict(std::span<const PeerState> peers, Clock::time_point now) const;
  /// "process 1 (node, pid 5) was lost: `what`; its last step was 7".
  std::string loss(int rank, std::string_view what, const PeerState& peer) const;
  const std::string& name(int rank) const { return names_[static_cast<std::size_t>(rank)]; }

 private:
  std::optional<std::string> silence(std::span<const PeerState> peers, Clock::time_point now) const;
  std::optional<std::string> departure(std::span<const PeerState> peers) const;
  std::optional<std::string> absence(std::span<const PeerState> peers) const;

  int rank_;
  std::vector<std::string> names_;
  WatchLimits limits_;
};

}  // namespace gpubench
