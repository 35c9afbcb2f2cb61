// The ranks of this process in one communicator, and the thread that watches over them: what NCCL finds wrong beside
// the host, and what does not get done in time, ends every wait of all of them.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/comm/nccl/abortable_comm.h"
#include "core/comm/nccl/stall_watch.h"
#include "core/group/process_group.h"

namespace gpubench::nccl {

struct Rank {
  explicit Rank(Device& device) : progress(device) {}
  Comm comm;
  Progress progress;
};

class Team {
 public:
  /// `group`, which may be null, outlives it and is told of failures. Nothing may take longer than `patience`.
  Team(std::span<Device* const> devices, ProcessGroup* group, Seconds patience);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  Rank& rank(std::size_t local) { return *ranks_[local]; }
  Seconds patience() const { return patience_; }
  /// From now on; the ranks have joined.
  void watch();
  /// Blocks until `rank` has done what it was asked for, but for what streams do. Throws PeerLost, DeviceError.
  void settle(Rank& rank, std::string_view call);
  void abort(const std::string& reason) noexcept;

 private:
  void look();

  ProcessGroup* group_;
  Seconds patience_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::mutex aborting_;
  bool aborted_ = false;
  std::mutex sleeping_;
  std::condition_variable_any woken_;
  std::jthread watcher_;  // ends first
};

}  // namespace gpubench::nccl
