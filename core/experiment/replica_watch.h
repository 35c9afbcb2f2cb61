// What replicas spend on each other while their steps are measured: for every rank, the time that it waited for others,
// the time of its exchanges, and the rest as its own. The host does not see the exchanges of GPUs; a trace after the
// measuring does.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/comm/communicator.h"
#include "core/exec/replicas.h"
#include "core/results/record.h"
#include "core/telemetry/exchange_trace.h"

namespace gpubench {

/// What a trace shows of the exchanges of this process's replicas, in a window of whole steps.
struct ReplicaTrace {
  std::vector<ExchangeTrace> exchanges;  ///< by replica
  int steps = 0;
  Seconds step_time{};
  /// Why the exchanges are not known; empty where they are.
  std::string absence{};

  /// The lengths of the exchanges as a text, for join_lengths.
  std::string lengths() const;
};

struct JoinedLengths {
  ExchangeLengths by_rank;
  /// Why they cannot be put together, the process or ranks named; empty where they can.
  std::string absence;
};

/// Joins the texts of ReplicaTrace::lengths() of all processes, by which each of them knows which rank came last to
/// every exchange. `names`: of the processes, for the absence.
JoinedLengths join_lengths(const std::vector<std::string>& texts, const std::vector<std::string>& names);

/// Means of a step, in seconds.
struct RankTimes {
  std::string device;    ///< "cpu:1"; of other processes with their names
  double own = 0;        ///< the step less the two waits below: input, kernels and the host's work
  double peer_wait = 0;  ///< kernels waited until the last rank had arrived
  double exposed = 0;    ///< kernels waited for exchanges to which all ranks had come
  double exchange = 0;   ///< all exchanges, those beside the kernels too
  double bytes = 0;
  double exchanges = 0;
  /// Whether the times are known.
  bool timed = false;
  std::vector<std::int64_t> last_arrivals;  ///< by rank
};

/// What processes tell each other of their ranks. Throws Error for a text that is none.
std::string rank_times_text(const std::vector<RankTimes>& ranks);
std::vector<RankTimes> rank_times_in(const std::string& text);

class ReplicaWatch {
 public:
  explicit ReplicaWatch(Replicas& replicas) : replicas_(replicas) {}
  void begin();
  /// After `steps` steps, which took `time` together. With other processes a collective call.
  void end(std::int64_t steps, Seconds time);
  /// After end(): whether a communicator reported no times, on any rank.
  bool needs_trace() const;
  /// Takes the times from a trace of a few more steps. With other processes a collective call.
  void add_trace(const ReplicaTrace& trace);
  /// Why times are not known; empty where they are.
  std::string absence() const;

  /// Sets device, replicas, exchange_bytes and exchanges; and where times are known communication_share,
  /// peer_wait_share, overlap_share, imbalance, last_rank, last_rank_share and exchange_time_s: means over all ranks,
  /// since none is like another, and shares of the steps that were timed or traced.
  void describe(Record& record) const;
  /// By rank.
  const std::vector<RankTimes>& ranks() const { return ranks_; }
  Replicas& replicas() const { return replicas_; }

 private:
  /// Gathers the ranks of all processes from those of this one.
  void gather(std::vector<RankTimes> own);

  Replicas& replicas_;
  std::vector<CommunicationTimes> before_;
  std::vector<RankTimes> ranks_;
  std::string absence_;
  double step_ = 0;
};

/// The rank that waited least for others, so that they waited for it, and the share of exchanges to which it came last.
struct LastRank {
  std::int64_t rank = 0;
  double share = 0;
};
LastRank last_rank(const std::vector<RankTimes>& ranks);

/// How much longer the slowest rank's own time is than the mean of all: 0 where all are as fast.
double imbalance(const std::vector<RankTimes>& ranks);

/// The shares of a batch that would take all replicas equally long, the largest 1. `own_times`: seconds that each
/// replica took for its own work with the share in `shares`; the time is assumed to be proportional to the share.
std::vector<double> balanced_shares(const std::vector<double>& own_times, const std::vector<double>& shares);

}  // namespace gpubench
