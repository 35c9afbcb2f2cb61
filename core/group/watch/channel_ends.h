// Ends waits that can never complete. Exchanges use numbered channels, the same in all processes; a rank that gives up
// sends all others the range of channels that ends, and their waits throw.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gpubench {

/// An end flag that waits check; any thread may set it.
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

/// The end flags of this process's channels. Thread-safe.
class ChannelEnds {
 public:
  /// Returns the same object until the channel is forgotten. Includes aborts that arrived before the call.
  std::shared_ptr<WaitEnd> end_of(int channel);
  void abort(const ChannelAbort& abort);
  /// Channels below `channel` will not be used any more.
  void forget_below(int channel);
  /// The aborts that may still end a channel.
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
