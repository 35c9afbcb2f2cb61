// The ranks of this process in one communicator, and the thread that watches over them: what NCCL finds wrong beside
// the host, and what does not get done in time, ends every wait of all of them.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/comm/nccl/abortable_comm.h"
#include "core/device/device.h"
#include "core/group/process_group.h"

namespace gpubench::nccl {

/// Whether what a rank has queued gets done: two marks in its streams, the older of which a watching thread looks at,
/// and the newer of which takes its turn. It costs a mark a call, however much is queued.
class StallWatch {
 public:
  explicit StallWatch(Device& device);
  /// What is queued on `stream`, which is not recorded, has to be done in time from now on.
  void expect(Stream& stream);
  /// How long nothing has been done, though something is to be; none while nothing is. Any thread.
  std::optional<Seconds> stalled();

 private:
  std::mutex mutex_;
  std::unique_ptr<Event> watched_, newer_;
  bool waits_ = false, has_newer_ = false;
  Clock::time_point since_;
};

struct Rank {
  explicit Rank(Device& device) : stall_watch(device) {}
  AbortableComm comm;
  StallWatch stall_watch;
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
