#include "core/group/watch/channel_ends.h"

#include <algorithm>

#include "core/base/error.h"

namespace gpubench {

void WaitEnd::raise() const {
  throw PeerLost(reason());
}

void WaitEnd::set(const std::string& reason) noexcept {
  const std::lock_guard lock(mutex_);
  if (set_.load(std::memory_order_relaxed)) return;
  reason_ = reason;
  set_.store(true, std::memory_order_release);
}

std::string WaitEnd::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

std::shared_ptr<WaitEnd> ChannelEnds::end_of(int channel) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(channels_, channel, &Channel::number);
  if (found != channels_.end()) return found->end;
  channels_.push_back({channel, std::make_shared<WaitEnd>()});
  for (const ChannelAbort& abort : aborts_) {
    if (abort.from <= channel && channel < abort.to) channels_.back().end->set(abort.reason);
  }
  return channels_.back().end;
}

void ChannelEnds::abort(const ChannelAbort& abort) {
  const std::lock_guard lock(mutex_);
  if (abort.to <= forgotten_below_) return;
  aborts_.push_back(abort);
  for (const Channel& one : channels_) {
    if (abort.from <= one.number && one.number < abort.to) one.end->set(abort.reason);
  }
}

void ChannelEnds::forget_below(int channel) {
  const std::lock_guard lock(mutex_);
  forgotten_below_ = std::max(forgotten_below_, channel);
  std::erase_if(channels_, [&](const Channel& one) { return one.number < channel; });
  std::erase_if(aborts_, [&](const ChannelAbort& one) { return one.to <= channel; });
}

std::vector<ChannelAbort> ChannelEnds::aborts() const {
  const std::lock_guard lock(mutex_);
  return aborts_;
}

}  // namespace gpubench
