// Tells the processes of a group when one of them is lost, and why, independently of what moves tensors: a thread of
// each has a TCP connection to rank 0's and sends a heartbeat over it twice a second. A connection that closes,
// silence, and a rank that others wait for too long end the whole group; a rank that fails says so itself.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/group/watch/channel_ends.h"
#include "core/group/watch/heartbeat.h"
#include "core/group/watch/line_socket.h"

namespace gpubench {

/// Ends this process at once: it still runs some seconds after its group has come to its end (`reason`), or after the
/// launcher has asked it to end (an empty reason).
using EndProcess = std::function<void(const std::string& reason)>;

class PeerWatch {
 public:
  /// Leaves SIGTERM to the watches of this process, which know whether a peer has died; before threads are made.
  static void take_termination();
  /// What others need to find rank 0: one line.
  static std::string address(const LineListener& listener);

  /// `names` by rank, for messages. Rank 0 brings the listener, the others its address. `end_process`, which may be
  /// empty, is called by the watch's thread. Throws Error when rank 0 cannot be reached.
  PeerWatch(int rank, const std::vector<std::string>& names, std::unique_ptr<LineListener> listener,
            const std::string& address, WatchLimits limits, EndProcess end_process = {});
  /// Leaves in order: the others do not take this process for lost.
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  /// Set once any process is lost: nothing can be exchanged any more.
  const WaitEnd& lost() const { return lost_; }
  /// Called by the watch's thread, once, when a process is lost, and when a launcher asks this one to end (SIGTERM) and
  /// none is: what is running should stop.
  void on_end(std::function<void()> stop);

  void set_step(std::int64_t step) noexcept { step_.store(step, std::memory_order_relaxed); }
  /// This rank's script has ended in order; it waits until all others' have.
  void set_leaving() noexcept { leaving_.store(true, std::memory_order_relaxed); }
  /// Returns when rank 0 has left, at the latest after a time that it may take to write its files: launchers kill all
  /// that is left when one ends with an error.
  void wait_for_first() const;
  /// This rank fails; all others end with that.
  void fail(const std::string& reason) noexcept;
  /// To all ranks, this one included: ends waits of the channels [from, to).
  void abort(int from, int to, const std::string& reason) noexcept;
  /// As ChannelEnds::end_of.
  std::shared_ptr<WaitEnd> channel(int channel) { return channels_.end_of(channel); }
  void forget_channels_below(int channel) { channels_.forget_below(channel); }

  /// While it lives, this rank waits for others in an exchange.
  class Waiting {
   public:
    explicit Waiting(PeerWatch& watch) : watch_(watch) {
      watch.waiting_since_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
      watch.waits_.fetch_add(1, std::memory_order_relaxed);
    }
    ~Waiting() { watch_.waits_.fetch_sub(1, std::memory_order_relaxed); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    PeerWatch& watch_;
  };

 private:
  void serve();
  void poll_sockets(bool open);
  void accept_peers();
  void greet(LineSocket stranger, const std::vector<std::string>& lines);
  void hear(int from, const std::string& line);
  void hear_from_all();
  void post(std::string line);
  void send_to_all(const std::string& line, int but);
  void send_posted();
  void beat();
  void lose(const std::string& reason);
  void hear_signals();
  void end_when_due(Clock::time_point now);

  const int rank_;
  const WatchLimits limits_;
  const HeartbeatPolicy policy_;
  const EndProcess end_process_;
  std::string token_;  // of this group: another's processes may find the same port
  std::unique_ptr<LineListener> listener_;
  std::vector<PeerState> states_;      // by rank; of others than rank 0 only its own and that of rank 0 count
  std::vector<LineSocket> sockets_;    // by rank
  std::vector<LineSocket> strangers_;  // connected, and have not said who they are

  std::atomic<std::int64_t> step_{0}, waiting_since_{0};
  std::atomic<int> waits_{0};
  std::atomic<bool> leaving_{false};
  WaitEnd lost_;
  ChannelEnds channels_;
  std::mutex mutex_;
  std::vector<std::string> posted_;  // guarded
  std::function<void()> stop_;       // guarded
  bool stop_called_ = false, end_called_ = false;
  Clock::time_point lost_at_{}, terminated_at_{};
  Clock::time_point next_beat_ = Clock::now();
  int wake_ = -1, signals_ = -1;
  std::atomic<bool> closing_{false}, first_left_{false};
  std::thread thread_;
};

}  // namespace gpubench
