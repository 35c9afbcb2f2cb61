// Where the host threads of all ranks wait for each other and tell each other something.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace gpubench {

template <class Message>
class Meeting {
 public:
  explicit Meeting(int ranks) : incoming_(static_cast<std::size_t>(ranks)), all_(incoming_.size()) {}

  /// Blocks until every rank has come, and returns the messages of all, by rank. Throws PeerLost after abort().
  std::vector<Message> meet(int rank, Message message) {
    std::unique_lock lock(mutex_);
    check();
    incoming_[static_cast<std::size_t>(rank)] = std::move(message);
    const std::size_t meeting = meetings_;
    if (++came_ < incoming_.size()) {
      everybody_.wait(lock, [&] { return meetings_ != meeting || aborted_; });
      if (meetings_ == meeting) check();
    } else {
      all_ = incoming_;
      came_ = 0;
      ++meetings_;
      everybody_.notify_all();
    }
    // Nobody can finish the next meeting before this rank has come to it.
    return all_;
  }

  /// Ends all current and later waits. The first reason counts.
  void abort(const std::string& reason) noexcept {
    const std::lock_guard lock(mutex_);
    if (!aborted_) reason_ = reason;
    aborted_ = true;
    everybody_.notify_all();
  }
  void check_alive() {
    const std::lock_guard lock(mutex_);
    check();
  }

 private:
  void check() const {
    if (aborted_) throw PeerLost(reason_);
  }

  std::mutex mutex_;
  std::condition_variable everybody_;
  std::vector<Message> incoming_, all_;
  std::size_t came_ = 0, meetings_ = 0;
  bool aborted_ = false;
  std::string reason_;
};

}  // namespace gpubench
