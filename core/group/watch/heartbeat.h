// Decides from heartbeats whether a group has lost a process. Pure functions of the heartbeats and the time, without
// sockets.
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
  Seconds silence{5.0};   ///< limit without a heartbeat: the process is stopped, or its machine is down
  Seconds absence{60.0};  ///< limit for a rank that does not come to an exchange in which others wait
  /// Limit for a rank whose script has ended while others still wait for it in an exchange. Long enough for messages in
  /// transit between machines.
  Seconds departure{10.0};
  /// How long a process may still run after the end of its group. Rank 0 needs longer, because it writes files (rows,
  /// tables, charts).
  Seconds grace_of_first{15.0}, grace_of_others{4.0};
};

/// The last message of one process, and when it arrived.
struct PeerState {
  Clock::time_point heard;
  std::int64_t step = 0;        ///< latest step; 0: none
  std::int64_t waited_ms = -1;  ///< how long it has been waiting for others; -1: it is not waiting
  bool leaving = false;         ///< its script has ended normally, and it waits for the other scripts to end
  bool left = false;            ///< it has closed its connection normally
};

class HeartbeatPolicy {
 public:
  /// For the process `rank`; `names` by rank, for messages.
  HeartbeatPolicy(int rank, std::vector<std::string> names, WatchLimits limits)
      : rank_(rank), names_(std::move(names)), limits_(limits) {}

  /// Why the group has ended; none while it has not. Rank 0 judges all processes; the others judge only rank 0, which
  /// informs them about the rest. `peers` by rank.
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
