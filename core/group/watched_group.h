// The common part of all groups: the processes' identities, which of them share a machine, the parts of the script, and
// the watch that detects lost processes. Subclasses provide the exchange of texts.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/group/process_group.h"
#include "core/group/watch/peer_watch.h"

namespace gpubench {

/// Equal for processes on one machine, also in different containers, until the machine is rebooted.
std::string machine_id();

class WatchedGroup : public ProcessGroup {
 public:
  std::string name_of(int rank) const override { return names_.at(static_cast<std::size_t>(rank)); }
  int local_size() const override { return local_size_; }
  int local_rank() const override { return local_rank_; }
  int sharing_processors() const override { return sharing_; }
  std::vector<int> neighbours() const override { return neighbours_; }

  std::vector<std::string> all_gather(const std::string& text) override {
    return gather_texts(FirstChannels::gathering, text);
  }
  std::string broadcast(const std::string& text, int root) override {
    return all_gather(rank() == root ? text : std::string())[static_cast<std::size_t>(root)];
  }
  std::vector<std::string> conclude(const std::string& text, const std::string& failure) override;
  void leave() override;

  void set_step(std::int64_t step) noexcept override { watch_->set_step(step); }
  void fail(const std::string& reason, int exit_status) noexcept override { watch_->fail(reason, exit_status); }
  std::string lost() const override { return watch_->lost().reason(); }
  int exit_status() const override { return watch_->exit_status(); }
  void on_end(std::function<void()> stop) override { watch_->on_end(std::move(stop)); }

 protected:
  /// The first channels of each part of the script, one for each kind of exchange, in the order of use. conclude() can
  /// only end waits of `gathering`.
  enum FirstChannels : int { gathering = 0, concluding = 1, leaving = 2, first_communicator = 3 };
  /// Channels per part of the script (between two conclude()), reserved because a rank that leaves a part early may
  /// have opened fewer.
  static constexpr int channels_per_part = 4096;

  /// What this process sends to the others when they meet.
  static std::string introduction(const JoinOptions& options);
  /// Receives the introductions of all ranks. Throws Error for processes that run different programs or scripts, naming
  /// both.
  void meet(const std::vector<std::string>& introductions);
  /// Call after meet(), with `listener` on rank 0 and its address on all ranks.
  void start_watch(std::unique_ptr<LineListener> listener, const std::string& address, const JoinOptions& options);

  /// The texts of all ranks, by rank. Throws PeerLost.
  virtual std::vector<std::string> gather_texts(FirstChannels kind, const std::string& text) = 0;
  /// Called after conclude().
  virtual void begin_part() = 0;

  int part() const { return part_; }
  /// The number of a channel in this part.
  int channel(int kind) const { return kind + part_ * channels_per_part; }
  /// The end flag for waits of `kind` in this part; nullptr if only the loss of a process ends them.
  const WaitEnd* end_of(FirstChannels kind) const { return kind == gathering ? end_.get() : nullptr; }
  /// nullptr before start_watch().
  PeerWatch* watch() const { return watch_.get(); }

 private:
  std::vector<std::string> names_;
  int local_size_ = 0, local_rank_ = 0, sharing_ = 0;
  std::vector<int> neighbours_;
  int part_ = 0;
  std::shared_ptr<WaitEnd> end_;  // for `gathering` in this part
  std::unique_ptr<PeerWatch> watch_;
};

}  // namespace gpubench
