#include "core/experiment/steps/replica_watch.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

#include "core/group/line_fields.h"

namespace gpubench {
namespace {

template <class Member>
double mean(const std::vector<RankTimes>& ranks, Member member) {
  double sum = 0;
  for (const RankTimes& rank : ranks) sum += rank.*member;
  return sum / static_cast<double>(ranks.size());
}

}  // namespace

std::string rank_times_text(const std::vector<RankTimes>& ranks) {
  std::vector<std::string> lines;
  for (const RankTimes& rank : ranks) {
    lines.push_back(to_line(rank.device, rank.own, rank.peer_wait, rank.exposed, rank.exchange, rank.bytes,
                            rank.exchanges, rank.timed, rank.last_arrivals));
  }
  return to_line(lines);
}

std::vector<RankTimes> rank_times_in(const std::string& text) {
  std::vector<std::string> lines;
  LineFields(text).read(lines);
  std::vector<RankTimes> ranks;
  for (const std::string& line : lines) {
    RankTimes& rank = ranks.emplace_back();
    LineFields(line).read(rank.device, rank.own, rank.peer_wait, rank.exposed, rank.exchange, rank.bytes,
                          rank.exchanges, rank.timed, rank.last_arrivals);
  }
  return ranks;
}

void ReplicaWatch::begin() {
  before_.clear();
  for (int replica = 0; replica < replicas_.size(); ++replica)
    before_.push_back(replicas_.communicator(replica).times());
}

void ReplicaWatch::end(std::int64_t steps, Seconds time) {
  const double count = static_cast<double>(std::max<std::int64_t>(steps, 1));
  step_ = time.count() / count;
  absence_.clear();
  std::vector<RankTimes> own;
  for (int replica = 0; replica < replicas_.size(); ++replica) {
    const CommunicationTimes now = replicas_.communicator(replica).times();
    const CommunicationTimes& then = before_[static_cast<std::size_t>(replica)];
    RankTimes rank;
    rank.device = to_string(replicas_.device(replica));
    rank.peer_wait = (now.peer_wait - then.peer_wait).count() / count;
    rank.exposed = (now.exposed_exchange - then.exposed_exchange).count() / count;
    rank.exchange = (now.exchange - then.exchange).count() / count;
    rank.bytes = (now.bytes - then.bytes) / count;
    rank.exchanges = static_cast<double>(now.collectives - then.collectives) / count;
    rank.own = step_ - rank.peer_wait - rank.exposed;
    rank.timed = now.collectives == then.collectives || now.exchange > then.exchange ||
                 now.peer_wait > then.peer_wait || replicas_.world_size() == 1;
    rank.last_arrivals = now.last_arrivals;
    for (std::size_t i = 0; i < then.last_arrivals.size(); ++i) rank.last_arrivals[i] -= then.last_arrivals[i];
    own.push_back(std::move(rank));
  }
  gather(std::move(own));
}

void ReplicaWatch::gather(std::vector<RankTimes> own) {
  ranks_ = std::move(own);
  ProcessGroup* const group = replicas_.group();
  if (group == nullptr) return;
  const std::vector<std::string> texts = group->all_gather(rank_times_text(ranks_));
  ranks_.clear();
  for (std::size_t process = 0; process < texts.size(); ++process) {
    for (RankTimes& rank : rank_times_in(texts[process])) {
      rank.device += " of " + group->name_of(static_cast<int>(process));
      ranks_.push_back(std::move(rank));
    }
  }
}

bool ReplicaWatch::needs_trace() const {
  return !std::ranges::all_of(ranks_, &RankTimes::timed);
}

void ReplicaWatch::add_trace(const ReplicaTrace& trace) {
  const auto first = static_cast<std::size_t>(replicas_.communicator(0).rank());
  ReplicaTrace told = trace;
  for (std::size_t replica = 0; replica < trace.exchanges.size(); ++replica) {
    if (trace.exchanges[replica].empty() && ranks_[first + replica].exchanges > 0)
      told.absence = "the trace shows no kernel of the exchanges that were made";
  }
  std::vector<std::string> texts{told.lengths()};
  std::vector<std::string> names{"this process"};
  ProcessGroup* const group = replicas_.group();
  if (group != nullptr) {
    texts = group->all_gather(texts[0]);
    names.clear();
    for (int process = 0; process < group->size(); ++process) names.push_back(group->name_of(process));
  }
  const JoinedLengths joined = join_lengths(texts, names);
  absence_ = joined.absence;
  if (!absence_.empty()) return;  // the same on all processes
  step_ = trace.step_time.count();
  std::vector<RankTimes> own;
  for (std::size_t replica = 0; replica < trace.exchanges.size(); ++replica) {
    const TracedCost cost = exchange_cost(trace.exchanges[replica], joined.by_rank);
    const auto of_step = [&](Clock::duration time) { return Seconds(time).count() / trace.steps; };
    RankTimes rank = ranks_[first + replica];
    rank.device = to_string(replicas_.device(static_cast<int>(replica)));
    rank.peer_wait = of_step(cost.peer_wait);
    rank.exposed = of_step(cost.exposed);
    rank.exchange = of_step(cost.exchange);
    rank.own = step_ - rank.peer_wait - rank.exposed;
    rank.last_arrivals = cost.last_arrivals;
    rank.timed = true;
    own.push_back(std::move(rank));
  }
  gather(std::move(own));
}

std::string ReplicaWatch::absence() const {
  if (!needs_trace()) return {};
  return absence_.empty() ? "exchanges of GPUs are told by a trace, and none was taken" : absence_;
}

void ReplicaWatch::describe(Record& record) const {
  std::vector<std::string> devices;
  for (const RankTimes& rank : ranks_) devices.push_back(rank.device);
  record.set("device", fmt::format("{}", fmt::join(devices, " ")));
  record.set("replicas", static_cast<std::int64_t>(replicas_.world_size()));
  record.set("exchange_bytes", mean(ranks_, &RankTimes::bytes));
  record.set("exchanges", mean(ranks_, &RankTimes::exchanges));
  if (needs_trace()) return;
  const double exchange = mean(ranks_, &RankTimes::exchange);
  record.set("communication_share", mean(ranks_, &RankTimes::exposed) / step_);
  record.set("peer_wait_share", mean(ranks_, &RankTimes::peer_wait) / step_);
  record.set("exchange_time_s", exchange);
  if (exchange > 0) record.set("overlap_share", std::max(0.0, 1 - mean(ranks_, &RankTimes::exposed) / exchange));
  record.set("imbalance", imbalance(ranks_));
  if (ranks_.size() == 1) return;
  const LastRank last = last_rank(ranks_);
  if (last.share == 0) return;  // no arrival was observed
  record.set("last_rank", last.rank);
  record.set("last_rank_device", ranks_[static_cast<std::size_t>(last.rank)].device);
  record.set("last_rank_share", last.share);
}

LastRank last_rank(const std::vector<RankTimes>& ranks) {
  std::vector<double> arrivals(ranks.size());
  for (const RankTimes& rank : ranks) {
    for (std::size_t i = 0; i < rank.last_arrivals.size(); ++i)
      arrivals[i] += static_cast<double>(rank.last_arrivals[i]);
  }
  // By time: with several exchanges in a step each may have another last rank, but one of them may cause most of the
  // waiting.
  std::size_t last = 0;
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const double waits = ranks[i].peer_wait, least = ranks[last].peer_wait;
    if (waits < least || (waits == least && arrivals[i] > arrivals[last])) last = i;
  }
  const double all = std::accumulate(arrivals.begin(), arrivals.end(), 0.0);
  return {static_cast<std::int64_t>(last), all == 0 ? 0 : arrivals[last] / all};
}

double imbalance(const std::vector<RankTimes>& ranks) {
  const double slowest = std::ranges::max(ranks, {}, &RankTimes::own).own;
  return slowest / mean(ranks, &RankTimes::own) - 1;
}

std::vector<double> balanced_shares(const std::vector<double>& own_times, const std::vector<double>& shares) {
  assert(own_times.size() == shares.size());
  std::vector<double> speeds;
  for (std::size_t i = 0; i < shares.size(); ++i) speeds.push_back(shares[i] / own_times[i]);
  const double fastest = std::ranges::max(speeds);
  for (double& speed : speeds) speed /= fastest;
  return speeds;
}

std::string ReplicaTrace::lengths() const {
  std::vector<std::vector<std::int64_t>> by_replica;
  for (const ExchangeTrace& replica : exchanges) {
    std::vector<std::int64_t>& lengths = by_replica.emplace_back();
    for (const TracedExchange& one : replica) lengths.push_back(one.length.count());
  }
  return to_line(absence, by_replica);
}

JoinedLengths join_lengths(const std::vector<std::string>& texts, const std::vector<std::string>& names) {
  assert(texts.size() == names.size());
  JoinedLengths joined;
  for (std::size_t process = 0; process < texts.size(); ++process) {
    std::string reason;
    std::vector<std::vector<std::int64_t>> by_replica;
    LineFields(texts[process]).read(reason, by_replica);
    if (!reason.empty()) return {{}, texts.size() == 1 ? reason : names[process] + ": " + reason};
    for (const std::vector<std::int64_t>& lengths : by_replica)
      joined.by_rank.emplace_back(lengths.begin(), lengths.end());
  }
  for (std::size_t rank = 1; rank < joined.by_rank.size(); ++rank) {
    const std::size_t first = joined.by_rank[0].size(), own = joined.by_rank[rank].size();
    if (own == first) continue;
    return {{},
            fmt::format("traces of all replicas need the same exchanges; rank 0 has {}, and rank {} has {}", first,
                        rank, own)};
  }
  return joined;
}

}  // namespace gpubench
