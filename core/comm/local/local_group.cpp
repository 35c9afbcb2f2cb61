#include "core/comm/local/local_group.h"

#include <fmt/format.h>
#include <thread>

#include "core/base/error.h"

namespace gpubench {

LocalGroup::LocalGroup(int size) : members_(static_cast<std::size_t>(size)) {
  for (Member& member : members_) {
    for (auto& staged : member.staged) staged = std::make_unique<std::byte[]>(staged_bytes);
  }
}

void LocalGroup::abort(const std::string& reason) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!aborted_) reason_ = reason;
    aborted_ = true;
  }
  for (Member& member : members_) {
    member.arrivals.end();
    member.departures.end();
  }
}

void LocalGroup::leave(int rank) noexcept {
  member(rank).arrivals.end();
  member(rank).departures.end();
}

void LocalGroup::check_alive() const {
  if (aborted_) throw_lost(0);
}

void LocalGroup::wait(const Progress& progress, std::uint32_t count, int rank, Clock::duration spin) const {
  if (!progress.wait(count, spin)) throw_lost(rank);
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
  // In this order: whoever aborts either sees the mark or is seen here.
  member_.at_work.store(true);
  if (!group.aborted_) return;
  member_.at_work.store(false);
  group.throw_lost(0);
}

}  // namespace gpubench
