// One GPU's end of NCCL. Lists of tensors go as one group, in place, without packing: NCCL merges what a group holds.
#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "core/comm/communicator.h"
#include "core/comm/nccl/team.h"
#include "core/device/memory_pool.h"

namespace gpubench::nccl {

class NcclCommunicator final : public Communicator {
 public:
  /// The rank `local` of `team`, which has joined; `device` outlives it.
  NcclCommunicator(std::shared_ptr<Team> team, std::size_t local, Device& device, int rank, int size);
  /// Recordings that hold its collectives, and what beside() gave, end before.
  ~NcclCommunicator() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string_view name() const override { return name_; }
  /// What NCCL_ALGO and NCCL_PROTO tell NCCL to do; it does not say what it chooses itself.
  std::string algorithm(const Collective& collective) const override;

  void run(const Collective& collective, Stream& stream) override;
  std::unique_ptr<SideWork> beside(Collective collective) override;
  bool recordable() const override { return true; }
  void barrier() override;
  void check() override;
  void launched(Stream& stream, std::int64_t collectives, double bytes) override;
  void abort(const std::string& reason) noexcept override { team_->abort(reason); }
  /// Counts alone: when a peer arrived is known on its GPU only.
  CommunicationTimes times() const override;

  /// run(), of a collective that is known to be possible.
  void queue(const Collective& collective, Stream& stream);

 private:
  void submit(const Collective& collective, Stream& stream);

  std::shared_ptr<Team> team_;
  Rank& mine_;
  Device& device_;
  int rank_, size_;
  std::string name_;
  Buffer token_;  // what barriers add up
  std::unique_ptr<Stream> beside_;
  std::atomic<std::int64_t> collectives_{0};
  std::atomic<double> bytes_{0};
};

}  // namespace gpubench::nccl
