// One rank's part in measuring one collective: its memory, its clock and the decisions of rank 0. The decisions are
// sent by another collective, so that ranks of other processes take part in the same way.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/device/memory_pool.h"
#include "core/experiment/collectives/collective_values.h"
#include "core/experiment/collectives/collectives.h"
#include "core/measure/stopping_rule.h"

namespace gpubench {

class CollectiveRankTrial {
 public:
  /// Throws Error if the bytes are less than one element per rank.
  CollectiveRankTrial(const CollectiveCase& one, const CollectiveRank& rank, Seconds budget);

  /// All ranks call it at the same time and get the same result. Nothing if rank 0 was interrupted.
  std::optional<CollectiveMeasurement> run();

 private:
  /// Rank 0's decision about the next step of all ranks.
  struct Order {
    enum class Next : std::int64_t { warm_up, sample, finish, interrupted };
    Next next = Next::warm_up;
    std::int64_t collectives = 1;  // number of collectives timed together
  };

  void set_up_tensors();
  Order agree(Order order);
  Order next_order(const Order& last, double seconds);
  /// Nanoseconds of a group of collectives, and the part of them in which this thread ran.
  std::pair<std::int64_t, std::int64_t> time(std::int64_t collectives);
  std::int64_t count_wrong_once();
  CollectiveMeasurement summary(std::int64_t group);

  /// The numbers of all ranks: their sum in place, or, for `gather`, concatenated.
  std::vector<std::int64_t> exchanged(const std::vector<std::int64_t>& numbers, CollectiveKind kind);
  std::vector<std::int64_t> exchanged_on_hosts(const std::vector<std::int64_t>& numbers, CollectiveKind kind);
  void write(const TensorView& tensor, const NumberAt& number);
  std::int64_t wrong_in(const TensorView& tensor, const NumberAt& expected);

  Communicator& communicator_;
  Device& device_;
  Stream& stream_;
  bool computes_;
  CollectiveCase case_;
  int ranks_, own_;
  TensorType part_, whole_;  // differ only for all_gather and reduce_scatter
  Buffer memory_;
  TensorView part_view_, whole_view_;
  Collective collective_;
  // Used by rank 0 only:
  Seconds warmup_, warmed_{0};
  StoppingRule rule_;
  // Used by every rank:
  std::vector<std::int64_t> sampled_;  // nanoseconds of each group
  std::vector<double> busy_;           // share of each group's time in which this thread ran
};

}  // namespace gpubench
