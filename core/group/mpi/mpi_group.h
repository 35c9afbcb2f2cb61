// The processes of a launcher, joined through Open MPI, which also transports the tensors of communicators.
#pragma once
#include "core/group/join.h"
#include "core/group/mpi/mpi_link.h"
#include "core/group/watched_group.h"

namespace gpubench {

class MpiGroup final : public WatchedGroup {
 public:
  /// Throws as join_by_mpi.
  MpiGroup(const ProcessLaunch& launch, const JoinOptions& options);
  /// The watch keeps running while MPI shuts down, which involves all processes.
  ~MpiGroup() override;
  MpiGroup(const MpiGroup&) = delete;
  MpiGroup& operator=(const MpiGroup&) = delete;

  int rank() const override { return link_.rank(); }
  int size() const override { return link_.size(); }
  void barrier() override;
  using WatchedGroup::all_gather;
  void all_gather(std::span<const std::int64_t> mine, std::span<std::int64_t> all) override;

  MpiLink& link() { return link_; }
  /// A channel for one communicator: the same number in all processes, valid until conclude(). A collective call.
  int open_channel();

 private:
  MpiTransfers transfers(FirstChannels kind) { return {link_, channel(kind), end_of(kind)}; }
  void gather_numbers(FirstChannels kind, std::span<const std::int64_t> mine, std::span<std::int64_t> all);
  std::vector<std::string> gather_texts(FirstChannels kind, const std::string& text) override;
  void begin_part() override { next_channel_ = first_communicator; }
  std::unique_ptr<LineListener> listen(std::string& address);

  MpiLink link_;
  int next_channel_ = first_communicator;
};

}  // namespace gpubench
