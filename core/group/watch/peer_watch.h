// Detects the loss of a process in a group and informs the others, independently of tensor transport. A thread of each
// process sends a heartbeat twice a second over a TCP connection to rank 0. A closed connection, silence, or a rank for
// which others wait too long end the whole group; a rank that fails reports so itself.
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

/// Ends this process immediately, because it is still running some seconds after its group has ended (`reason`), or
/// after the launcher asked it to end (empty reason).
using EndProcess = std::function<void(const std::string& reason)>;

class PeerWatch {
 public:
  /// Routes SIGTERM to the watches of this process, which know whether a peer has died; call it before threads are
  /// created.
  static void take_termination();
  /// One line with what others need to connect to rank 0.
  static std::string address(const LineListener& listener);

  /// `names` by rank, for messages. Rank 0 passes the listener, the others its address. `end_process` (may be empty) is
  /// called by the watch's thread. Throws Error if rank 0 cannot be reached.
  PeerWatch(int rank, const std::vector<std::string>& names, std::unique_ptr<LineListener> listener,
            const std::string& address, WatchLimits limits, EndProcess end_process = {});
  /// Leaves normally, so that the others do not report this process as lost.
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  /// Set once any process is lost: no exchange is possible any more.
  const WaitEnd& lost() const { return lost_; }
  /// As ProcessGroup::exit_status.
  int exit_status() const { return exit_status_.load(); }
  /// `stop` is called once, by the watch's thread, when a process is lost or when the launcher asks this process to end
  /// (SIGTERM). It should stop running work, and must not block or call this object.
  void on_end(std::function<void()> stop);

  void set_step(std::int64_t step) noexcept { step_.store(step, std::memory_order_relaxed); }
  /// Declares that this rank's script has ended normally and waits for the others.
  void set_leaving() noexcept { leaving_.store(true, std::memory_order_relaxed); }
  /// Returns when rank 0 has left, or after the time that rank 0 may need to write its files: launchers kill all
  /// remaining processes when one ends with an error.
  void wait_for_first() const;
  /// Declares that this rank has failed; all others end with `reason`.
  void fail(const std::string& reason, int exit_status) noexcept;
  /// Ends the waits of the channels [from, to) on all ranks, including this one.
  void abort(int from, int to, const std::string& reason) noexcept;
  /// As ChannelEnds::end_of.
  std::shared_ptr<WaitEnd> channel(int channel) { return channels_.end_of(channel); }
  void forget_channels_below(int channel) { channels_.forget_below(channel); }

  /// While it lives, this rank counts as waiting for others in an exchange.
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
  void lose(const std::string& reason, int exit_status);
  void hear_signals();
  void end_when_due(Clock::time_point now);

  const int rank_;
  const WatchLimits limits_;
  const HeartbeatPolicy policy_;
  const EndProcess end_process_;
  std::string token_;  // identifies this group: a process of another group may connect to the same port
  std::unique_ptr<LineListener> listener_;
  std::vector<PeerState> states_;      // by rank; ranks above 0 only use their own and rank 0's
  std::vector<LineSocket> sockets_;    // by rank
  std::vector<LineSocket> strangers_;  // connected, but not yet identified

  std::atomic<std::int64_t> step_{0}, waiting_since_{0};
  std::atomic<int> waits_{0};
  std::atomic<bool> leaving_{false};
  WaitEnd lost_;
  std::atomic<int> exit_status_;
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
