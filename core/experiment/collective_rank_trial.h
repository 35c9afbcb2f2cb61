// One rank's part in the measurement of one collective: its memory, its clock, and the decisions of rank 0, which reach
// the others as one more collective, so that ranks of other processes take part like those of this one.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/experiment/collective_values.h"
#include "core/experiment/collectives.h"
#include "core/measure/stopping_rule.h"

namespace gpubench {

class CollectiveRankTrial {
 public:
  /// Throws Error where the bytes are less than an element a rank.
  CollectiveRankTrial(const CollectiveCase& one, const CollectiveRank& rank, Seconds budget);

  /// Every rank calls it, at the same time; the result is the same on all. Nothing when rank 0 was interrupted.
  std::optional<CollectiveMeasurement> run();

 private:
  /// What all ranks do next, as rank 0 decides.
  struct Order {
    enum class Next : std::int64_t { warm_up, sample, finish, interrupted };
    Next next = Next::warm_up;
    std::int64_t collectives = 1;  // to be timed together
  };

  void set_up_tensors();
  Order agree(Order order);
  Order next_order(const Order& last, double seconds);
  /// Nanoseconds of a group, and of those the ones in which this thread ran.
  std::pair<std::int64_t, std::int64_t> time(std::int64_t collectives);
  std::int64_t count_wrong_once();
  CollectiveMeasurement summary(std::int64_t group);

  /// Of all ranks: their sum in place, or, with `gather`, one after the other.
  std::vector<std::int64_t> exchanged(const std::vector<std::int64_t>& numbers, CollectiveKind kind);
  void write(const TensorView& tensor, const NumberAt& number);
  std::int64_t wrong_in(const TensorView& tensor, const NumberAt& expected);

  Communicator& communicator_;
  Device& device_;
  Stream& stream_;
  CollectiveCase case_;
  int ranks_, own_;
  TensorType part_, whole_;  // the same but for all_gather and reduce_scatter
  Buffer memory_;
  TensorView part_view_, whole_view_;
  Collective collective_;
  // Of rank 0:
  Seconds warmup_, warmed_{0};
  StoppingRule rule_;
  // Of every rank:
  std::vector<std::int64_t> sampled_;  // nanoseconds of each group
  std::vector<double> busy_;           // shares of those in which this thread ran
};

}  // namespace gpubench
