// One GPU's rank in NCCL. Lists of tensors are one NCCL group, in place, without packing: NCCL merges a group's work.
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
  /// Rank `local` of `team`, which has joined; `device` must outlive it.
  NcclCommunicator(std::shared_ptr<Team> team, std::size_t local, Device& device, int rank, int size);
  /// Recordings of its collectives, and objects from beside(), must be destroyed before it.
  ~NcclCommunicator() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string_view name() const override { return name_; }
  /// The settings NCCL_ALGO and NCCL_PROTO; NCCL does not report its own choice.
  std::string algorithm(const Collective& collective) const override;

  void run(const Collective& collective, Stream& stream) override;
  std::unique_ptr<SideWork> beside(Collective collective) override;
  bool recordable() const override { return true; }
  void barrier() override;
  void check() override;
  void launched(Stream& stream, std::int64_t collectives, double bytes) override;
  void abort(const std::string& reason) noexcept override { team_->abort(reason); }
  /// Counts only: arrival times of peers are known on their GPUs only.
  CommunicationTimes times() const override;

  /// run() for a collective that has been checked.
  void queue(const Collective& collective, Stream& stream);

 private:
  void submit(const Collective& collective, Stream& stream);

  std::shared_ptr<Team> team_;
  Rank& mine_;
  Device& device_;
  int rank_, size_;
  std::string name_;
  Buffer token_;  // buffer that barriers reduce
  std::unique_ptr<Stream> beside_;
  std::atomic<std::int64_t> collectives_{0};
  std::atomic<double> bytes_{0};
};

}  // namespace gpubench::nccl
