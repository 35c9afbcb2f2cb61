#include "core/comm/local/local_communicator.h"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

#include "core/base/enum_names.h"
#include "core/comm/exchange_clock.h"
#include "core/comm/local/local_exchange.h"
#include "core/comm/side_queue.h"

namespace gpubench {
namespace {

/// The algorithms that a caller may choose; reduction_to_one is chosen through CrossDevice.
constexpr EnumNames<LocalAlgorithm, 4> algorithms{"unknown algorithm", {"direct", "tree", "parts", "ring"}};

class LocalSide;

/// Shared by a communicator and its side collectives; the last one frees it.
struct LocalRank {
  LocalRank(std::shared_ptr<LocalGroup> shared, int own, std::optional<LocalAlgorithm> all_reduce)
      : group(std::move(shared)), rank(own), exchange(group, own, all_reduce), clock(group->size()) {}

  std::shared_ptr<LocalGroup> group;
  int rank;
  LocalExchange exchange;  // by one thread at a time: the host's, or the queue's
  ExchangeClock clock;
  Clock::time_point last_done = Clock::time_point::min();  // as exchange
  std::vector<LocalSide*> begun;                           // by the host's thread, in their order
  SideQueue queue;                                         // ends first

  /// With a single rank, an in-place collective has nothing to do.
  bool is_done(const Collective& collective) const {
    const bool in_place = collective.kind == CollectiveKind::all_reduce || collective.kind == CollectiveKind::broadcast;
    return in_place && group->size() == 1;
  }

  ExchangeOutcome carry_out(const LocalCollective& collective, Clock::time_point ready, Clock::duration spin) {
    if (is_done(collective.collective)) return {.arrived = ready, .last_arrived = ready, .done = ready, .last_rank = 0};
    const ExchangeOutcome outcome = exchange.carry_out(collective, std::max(ready, last_done), spin);
    last_done = outcome.done;
    return outcome;
  }
};

class LocalSide final : public SideWork {
 public:
  LocalSide(std::shared_ptr<LocalRank> rank, Collective collective) : rank_(std::move(rank)) {
    collective_.collective = std::move(collective);
    rank_->exchange.prepare(collective_);
    work_.carry_out = [this](Clock::duration spin) { outcome_ = rank_->carry_out(collective_, begun_, spin); };
  }

  ~LocalSide() override {
    const auto open = std::ranges::find(rank_->begun, this);
    if (open == rank_->begun.end()) return;
    rank_->begun.erase(open);
    rank_->group->abort(
        fmt::format("rank {} gave up an {} that it had begun", rank_->rank, to_string(collective_.collective.kind)));
    rank_->queue.withdraw(work_);
  }

  void begin(Stream& kernels) override {
    kernels.synchronize();
    begun_ = Clock::now();
    counted_ = false;
    if (rank_->is_done(collective_.collective)) {
      outcome_ = {.arrived = begun_, .last_arrived = begun_, .done = begun_, .last_rank = 0};
      return;
    }
    rank_->begun.push_back(this);
    rank_->queue.push(work_);
  }

  void end(Stream&) override {
    const Clock::time_point from = Clock::now();
    if (!rank_->is_done(collective_.collective)) {
      std::erase(rank_->begun, this);
      rank_->queue.finish(work_);
    }
    count(from);
  }

  /// Once done, what the kernels stood still for since `stood_from`.
  void count(Clock::time_point stood_from) {
    if (!counted_) rank_->clock.add(collective_.collective.bytes(), outcome_, stood_from);
    counted_ = true;
  }
  bool failed() const { return work_.failure != nullptr; }

 private:
  std::shared_ptr<LocalRank> rank_;
  LocalCollective collective_;
  Clock::time_point begun_;
  ExchangeOutcome outcome_;
  bool counted_ = false;
  SideQueue::Work work_;
};

class LocalCommunicator final : public Communicator {
 public:
  LocalCommunicator(std::shared_ptr<LocalGroup> group, int rank, std::optional<LocalAlgorithm> all_reduce)
      : rank_(std::make_shared<LocalRank>(std::move(group), rank, all_reduce)),
        // If ranks share processors, a spinning rank would keep the others from arriving.
        spin_(size() <= static_cast<int>(std::thread::hardware_concurrency()) ? spin_time : Clock::duration::zero()) {}
  ~LocalCommunicator() override { rank_->group->leave(rank_->rank); }

  int rank() const override { return rank_->rank; }
  int size() const override { return rank_->group->size(); }
  std::string_view name() const override { return "local"; }
  std::string algorithm(const Collective& collective) const override {
    return std::string(to_string(rank_->exchange.algorithm(collective)));
  }

  void run(const Collective& collective, Stream& stream) override {
    stream.synchronize();
    inline_.collective = collective;
    rank_->exchange.prepare(inline_);
    const Clock::time_point from = Clock::now();
    finish_begun(from);
    const ExchangeOutcome outcome = rank_->carry_out(inline_, from, spin_);
    rank_->clock.add(collective.bytes(), outcome, from);
  }

  std::unique_ptr<SideWork> beside(Collective collective) override {
    return std::make_unique<LocalSide>(rank_, std::move(collective));
  }

  void barrier() override {
    finish_begun(Clock::now());
    static const Collective nothing{.kind = CollectiveKind::broadcast, .tensors = {}};
    inline_.collective = nothing;
    rank_->exchange.prepare(inline_);
    rank_->carry_out(inline_, Clock::now(), spin_);
  }

  void abort(const std::string& reason) noexcept override { rank_->group->abort(reason); }
  CommunicationTimes times() const override { return rank_->clock.times(); }

 private:
  /// Collectives are carried out in their order.
  void finish_begun(Clock::time_point stood_from) {
    if (rank_->begun.empty()) return;
    rank_->queue.drain();
    for (LocalSide* const side : rank_->begun) {
      if (!side->failed()) side->count(stood_from);
    }
  }

  std::shared_ptr<LocalRank> rank_;
  Clock::duration spin_;
  LocalCollective inline_;  // keeps its memory from call to call
};

}  // namespace

std::string_view to_string(LocalAlgorithm algorithm) {
  return algorithm == LocalAlgorithm::reduction_to_one ? "reduction_to_one" : algorithms[algorithm];
}

LocalAlgorithm parse_local_algorithm(std::string_view name) {
  return algorithms.parse(name);
}

std::vector<std::unique_ptr<Communicator>> make_local_communicators(std::vector<int> node_of_rank,
                                                                    std::optional<LocalAlgorithm> all_reduce) {
  const auto group = std::make_shared<LocalGroup>(std::move(node_of_rank));
  std::vector<std::unique_ptr<Communicator>> communicators;
  for (int rank = 0; rank < group->size(); ++rank) {
    communicators.push_back(std::make_unique<LocalCommunicator>(group, rank, all_reduce));
  }
  return communicators;
}

}  // namespace gpubench
