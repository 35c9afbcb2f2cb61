// What replicas cost each other during a measurement: for every rank, the time waiting for others, the time of
// exchanges, and the rest as its own time. The host does not see exchanges of GPUs; a trace after the measurement
// provides them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/comm/communicator.h"
#include "core/exec/replicas.h"
#include "core/results/record.h"
#include "core/trace/exchange_trace.h"

namespace gpubench {

/// The exchanges of this process's replicas in a trace of whole steps.
struct ReplicaTrace {
  std::vector<ExchangeTrace> exchanges;  ///< by replica
  int steps = 0;
  Seconds step_time{};
  /// Why the exchanges are unknown; empty if they are known.
  std::string absence{};

  /// The durations of the exchanges as text, for join_lengths.
  std::string lengths() const;
};

struct JoinedLengths {
  ExchangeLengths by_rank;
  /// Why they cannot be combined, naming the process or ranks; empty if they can.
  std::string absence;
};

/// Combines ReplicaTrace::lengths() of all processes, so that each process knows which rank arrived last at every
/// exchange. `names`: of the processes, for `absence`.
JoinedLengths join_lengths(const std::vector<std::string>& texts, const std::vector<std::string>& names);

/// Mean seconds per step.
struct RankTimes {
  std::string device;    ///< "cpu:1"; devices of other processes include the process's name
  double own = 0;        ///< the step without the two waits below: input, kernels and host work
  double peer_wait = 0;  ///< kernels waited for the last rank to arrive
  double exposed = 0;    ///< kernels waited for exchanges after all ranks had arrived
  double exchange = 0;   ///< all exchanges, including those beside kernels
  double bytes = 0;
  double exchanges = 0;
  /// Whether the times are known.
  bool timed = false;
  std::vector<std::int64_t> last_arrivals;  ///< by rank
};

/// Serializes the times for other processes. Parsing throws Error for invalid text.
std::string rank_times_text(const std::vector<RankTimes>& ranks);
std::vector<RankTimes> rank_times_in(const std::string& text);

class ReplicaWatch {
 public:
  explicit ReplicaWatch(Replicas& replicas) : replicas_(replicas) {}
  void begin();
  /// Ends the measurement after `steps` steps, which took `time` in total. With other processes a collective call.
  void end(std::int64_t steps, Seconds time);
  /// After end(): whether any rank's communicator reported no times.
  bool needs_trace() const;
  /// Takes the times from a trace of a few more steps. With other processes a collective call.
  void add_trace(const ReplicaTrace& trace);
  /// Why times are unknown; empty if they are known.
  std::string absence() const;

  /// Sets device, replicas, exchange_bytes and exchanges; if times are known also communication_share, peer_wait_share,
  /// overlap_share, imbalance, last_rank, last_rank_share and exchange_time_s. These are means over all ranks, and
  /// shares of the timed or traced steps.
  void describe(Record& record) const;
  /// By rank.
  const std::vector<RankTimes>& ranks() const { return ranks_; }
  Replicas& replicas() const { return replicas_; }

 private:
  /// Gathers the times of all processes' ranks.
  void gather(std::vector<RankTimes> own);

  Replicas& replicas_;
  std::vector<CommunicationTimes> before_;
  std::vector<RankTimes> ranks_;
  std::string absence_;
  double step_ = 0;
};

/// The rank for which the others waited (it waited least itself), and the share of exchanges at which it arrived last.
struct LastRank {
  std::int64_t rank = 0;
  double share = 0;
};
LastRank last_rank(const std::vector<RankTimes>& ranks);

/// By how much the slowest rank's own time exceeds the mean of all, relative to the mean; 0 if all are equal.
double imbalance(const std::vector<RankTimes>& ranks);

/// The shares of a batch with which all replicas would take equally long, scaled to a maximum of 1. `own_times`:
/// seconds of each replica's own work with its share in `shares`; times are assumed to be proportional to shares.
std::vector<double> balanced_shares(const std::vector<double>& own_times, const std::vector<double>& shares);

}  // namespace gpubench
