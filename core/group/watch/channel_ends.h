// How waits learn that what they wait for will never come. Exchanges go over numbered channels, the same in all
// processes; a rank that gives up tells all others which channels that ends, and their waits throw.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gpubench {

/// The end of all waits for one thing. Waits look at it; any thread may set it.
class WaitEnd {
 public:
  bool is_set() const noexcept { return set_.load(std::memory_order_acquire); }
  /// Throws PeerLost with the first reason.
  [[noreturn]] void raise() const;
  void set(const std::string& reason) noexcept;
  std::string reason() const;

 private:
  std::atomic<bool> set_{false};
  mutable std::mutex mutex_;
  std::string reason_;
};

/// Ends the waits of the channels [from, to).
struct ChannelAbort {
  int from = 0, to = 0;
  std::string reason;
};

/// The ends of this process's channels. Any thread.
class ChannelEnds {
 public:
  /// The same for every call until the channel is forgotten. Aborts that came before count.
  std::shared_ptr<WaitEnd> end_of(int channel);
  void abort(const ChannelAbort& abort);
  /// Channels below `channel` are used no more.
  void forget_below(int channel);
  /// Those that may still end a channel.
  std::vector<ChannelAbort> aborts() const;

 private:
  struct Channel {
    int number;
    std::shared_ptr<WaitEnd> end;
  };

  mutable std::mutex mutex_;
  std::vector<Channel> channels_;
  std::vector<ChannelAbort> aborts_;
  int forgotten_below_ = 0;
};

}  // namespace gpubench
