// The ranks of this process in one communicator, and a thread that watches them: an error that NCCL reports, or a
// collective that does not end in time, ends every wait of all ranks.
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

/// Finds out when nothing that a rank has queued gets done any more. It keeps two marks (events) in the rank's streams:
/// a watching thread looks at the older one; once that is reached, the newer one takes its place. A call costs one
/// mark, however much is queued.
class StallWatch {
 public:
  explicit StallWatch(Device& device);
  /// What is queued on `stream`, which is not recorded, has to be done in time from now on.
  void expect(Stream& stream);
  /// How long nothing has been done although something is queued; none while nothing is queued. Any thread.
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
