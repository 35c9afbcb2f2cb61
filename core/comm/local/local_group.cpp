#include "core/comm/local/local_group.h"

#include <fmt/format.h>
#include <thread>

#include "core/base/error.h"

namespace gpubench {
namespace {

void end_all(LocalGroup::Member& member) {
  member.arrivals.end();
  member.releases.end();
  member.departures.end();
  member.ring_pieces.end();
}

}  // namespace

LocalGroup::LocalGroup(std::vector<int> node_of_rank)
    : members_(node_of_rank.size()),
      node_of_rank_(std::move(node_of_rank)),
      tree_(rank_tree(node_of_rank_)),
      ring_(rank_ring(node_of_rank_)) {
  constexpr std::size_t widest = 2;  // sums of 16-bit numbers are float32
  for (Member& member : members_) {
    for (auto& staged : member.staged) staged = std::make_unique<std::byte[]>(widest * staged_bytes);
  }
}

void LocalGroup::abort(const std::string& reason) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!aborted_) reason_ = reason;
    aborted_ = true;
  }
  for (Member& member : members_) {
    end_all(member);
  }
}

void LocalGroup::leave(int rank) noexcept {
  end_all(member(rank));
}

void LocalGroup::check_alive() const {
  if (aborted_) throw_lost(0);
}

void LocalGroup::wait(const WaitableCount& reached, std::uint32_t count, int rank, Clock::duration spin) const {
  if (!reached.wait(count, spin)) throw_lost(rank);
}

void LocalGroup::throw_lost(int rank) const {
  // Work ends by itself, and none begins once aborted: the caller's tensors must live until then.
  for (const Member& member : members_) {
    while (member.at_work) std::this_thread::yield();
  }
  const std::lock_guard lock(mutex_);
  throw PeerLost(aborted_ ? reason_ : fmt::format("rank {} has ended: it exchanges nothing any more", rank));
}

LocalGroup::Work::Work(const LocalGroup& group, Member& member) : member_(member) {
  // In this order, so that either the aborting thread sees the mark or this thread sees the abort.
  member_.at_work.store(true);
  if (!group.aborted_) return;
  member_.at_work.store(false);
  group.throw_lost(0);
}

}  // namespace gpubench
