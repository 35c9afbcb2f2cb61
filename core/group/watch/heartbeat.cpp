#include "core/group/watch/heartbeat.h"

#include <algorithm>
#include <fmt/format.h>

namespace gpubench {
namespace {

std::int64_t milliseconds_in(Seconds time) {
  return static_cast<std::int64_t>(time.count() * 1000);
}

}  // namespace

std::optional<std::string> HeartbeatPolicy::verdict(std::span<const PeerState> peers, Clock::time_point now) const {
  if (auto reason = silence(peers, now)) return reason;
  if (rank_ != 0) return std::nullopt;
  if (auto reason = departure(peers)) return reason;
  return absence(peers);
}

std::string HeartbeatPolicy::loss(int rank, std::string_view what, const PeerState& peer) const {
  return fmt::format("{} was lost: {}; {}", name(rank), what,
                     peer.step > 0 ? fmt::format("its last step was {}", peer.step) : "it had taken no step yet");
}

std::optional<std::string> HeartbeatPolicy::silence(std::span<const PeerState> peers, Clock::time_point now) const {
  for (int rank = 0; rank < static_cast<int>(peers.size()); ++rank) {
    const PeerState& peer = peers[static_cast<std::size_t>(rank)];
    const bool watched = rank != rank_ && !peer.left && (rank_ == 0 || rank == 0);
    if (!watched || now - peer.heard < limits_.silence) continue;
    return loss(rank,
                fmt::format("nothing has been heard of it for {:.0f} s (is it stopped, or its machine gone?)",
                            limits_.silence.count()),
                peer);
  }
  return std::nullopt;
}

// Every exchange takes all ranks: one that waits for the end of all scripts will not come to the exchange that another
// waits in.
std::optional<std::string> HeartbeatPolicy::departure(std::span<const PeerState> peers) const {
  const Seconds limit = std::min(limits_.departure, limits_.absence);
  const auto stuck = [&](bool leaving) {
    return std::ranges::find_if(peers, [&](const PeerState& peer) {
      return peer.leaving == leaving && peer.waited_ms >= milliseconds_in(limit) && !peer.left;
    });
  };
  const auto left = stuck(true), waits = stuck(false);
  if (left == peers.end() || waits == peers.end()) return std::nullopt;
  return fmt::format("{} has come to the end of its script, and {} has waited for it in an exchange for {:.0f} s",
                     name(static_cast<int>(left - peers.begin())), name(static_cast<int>(waits - peers.begin())),
                     limit.count());
}

// The rank that does not wait while others have waited for so long is the one that they wait for.
std::optional<std::string> HeartbeatPolicy::absence(std::span<const PeerState> peers) const {
  const auto longest = std::ranges::max_element(peers, {}, &PeerState::waited_ms);
  if (longest->waited_ms < milliseconds_in(limits_.absence)) return std::nullopt;
  const auto absent =
      std::ranges::find_if(peers, [](const PeerState& peer) { return peer.waited_ms < 0 && !peer.left; });
  if (absent != peers.end()) {
    return loss(static_cast<int>(absent - peers.begin()),
                fmt::format("{} has waited for it for {:.0f} s (--peer-timeout)",
                            name(static_cast<int>(longest - peers.begin())), limits_.absence.count()),
                *absent);
  }
  if (std::ranges::min(peers, {}, &PeerState::waited_ms).waited_ms < milliseconds_in(limits_.absence))
    return std::nullopt;
  return fmt::format(
      "all processes have waited for each other for {:.0f} s "
      "(--peer-timeout): they take different paths through the script",
      limits_.absence.count());
}

}  // namespace gpubench
