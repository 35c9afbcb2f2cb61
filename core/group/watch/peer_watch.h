// Tells the processes of a group when one of them is lost, and why, independently of what moves tensors: a thread of
// each has a TCP connection to rank 0's and says over it twice a second how far its process is. A connection that
// closes, silence, and a rank that others wait for too long end the whole group; a rank that fails says so itself.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/group/watch/line_socket.h"

namespace gpubench {

struct WatchLimits {
  Seconds silence{5.0};   ///< a process that is stopped, or a machine that is gone
  Seconds absence{60.0};  ///< a rank that does not come to what others wait for
  /// One whose script has ended while others wait in an exchange. Long for what is still on its way between machines.
  Seconds departure{10.0};
};

/// Where exchanges learn that they will never be complete. Looked at while waiting, by any thread.
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

class PeerWatch {
 public:
  /// Leaves SIGTERM to the watches of this process, which know whether a peer has died; before threads are made.
  static void take_termination();
  /// What others need to find rank 0: one line.
  static std::string address(const LineListener& listener);

  /// `names` by rank, for messages. Rank 0 brings the listener, the others its address. Throws Error when rank 0 cannot
  /// be reached.
  PeerWatch(int rank, std::vector<std::string> names, std::unique_ptr<LineListener> listener,
            const std::string& address, WatchLimits limits);
  /// Orderly: nobody takes this process for lost.
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
  /// A channel's end; the same for every call until it is forgotten. Aborts that came before count.
  std::shared_ptr<WaitEnd> channel(int channel);
  /// Of channels below `channel` nothing more is wanted.
  void forget_channels_below(int channel);

  /// While it lives, this rank waits for others in its `number`-th exchange.
  class Waiting {
   public:
    Waiting(PeerWatch& watch, std::int64_t number) : watch_(watch) {
      watch.waiting_for_.store(number, std::memory_order_relaxed);
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
  struct Peer;
  struct Channel {
    int number;
    std::shared_ptr<WaitEnd> end;
  };
  struct Abort {
    int from, to;
    std::string reason;
  };

  void serve();
  void accept_peers();
  /// To a peer that was not connected yet when others aborted.
  void tell_aborts(LineSocket& late);
  void hear(int from, const std::string& line);
  void hear_from_all();
  void post(std::string line);
  void send_to_all(const std::string& line, int but);
  void send_posted();
  void say_how_far();
  void look_for_silence(Clock::time_point now);
  void look_for_absence();
  void look_for_departure();
  void end_channels(int from, int to, const std::string& reason);
  void lose(const std::string& text);
  void lose_rank(int rank, const std::string& what);
  void hear_signals();
  void end_when_due(Clock::time_point now);
  std::string last_step_of(int rank) const;

  const int rank_;
  const std::vector<std::string> names_;
  const WatchLimits limits_;
  const std::string token_;
  std::unique_ptr<LineListener> listener_;
  std::vector<Peer> peers_;            // by rank; of others than rank 0 only that one counts
  std::vector<LineSocket> strangers_;  // connected, and have not said who they are

  std::atomic<std::int64_t> step_{0}, waiting_for_{0}, waiting_since_{0};
  std::atomic<int> waits_{0};
  std::atomic<bool> leaving_{false};
  WaitEnd lost_;
  std::mutex mutex_;
  std::vector<std::string> posted_;  // guarded
  std::vector<Channel> channels_;    // guarded
  std::vector<Abort> aborts_;        // guarded
  int forgotten_below_ = 0;          // guarded
  std::function<void()> stop_;       // guarded
  bool stop_called_ = false;
  Clock::time_point lost_at_{}, terminated_at_{};
  Clock::time_point next_beat_{};
  int wake_ = -1, signals_ = -1;
  std::atomic<bool> closing_{false}, first_left_{false};
  std::thread thread_;
};

}  // namespace gpubench
