#include "core/comm/hierarchical.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "core/comm/collective.h"
#include "core/comm/exchange_clock.h"
#include "core/comm/side_queue.h"

namespace gpubench {
namespace {

/// How long the ranks of a process have waited for other processes.
struct PeerWait {
  Seconds time{};
  int last = -1;  ///< the last to arrive, of those that are waited for there; -1: not known
};

PeerWait between(const CommunicationTimes& before, const CommunicationTimes& after) {
  PeerWait wait{.time = after.peer_wait - before.peer_wait, .last = -1};
  for (std::size_t rank = 0; rank < after.last_arrivals.size(); ++rank) {
    if (after.last_arrivals[rank] != before.last_arrivals[rank]) wait.last = static_cast<int>(rank);
  }
  return wait;
}

/// The first local rank's waits for other processes, for the others to count: they waited for it. Of two collectives in
/// turn: when it comes to the next but one, all have come to the next and so have read of this one.
using UpperWaits = std::array<PeerWait, 2>;

/// One rank's two levels. Of the upper one the first local rank alone has an end.
class Levels {
 public:
  Levels(std::unique_ptr<Communicator> lower, std::unique_ptr<Communicator> upper, int process, int processes,
         std::shared_ptr<UpperWaits> upper_waits)
      : lower_(std::move(lower)),
        upper_(std::move(upper)),
        process_(process),
        processes_(processes),
        upper_waits_(std::move(upper_waits)) {}

  int rank() const { return process_ * lower_->size() + lower_->rank(); }
  int size() const { return processes_ * lower_->size(); }
  const Communicator& lower() const { return *lower_; }
  const Communicator* upper() const { return upper_.get(); }

  /// Returns what of the time was a wait for others. The last of all is known where it is one of this process.
  PeerWait run(const Collective& collective, Stream& stream) {
    check_collective(collective, size());
    before_ = lower_->times();
    switch (collective.kind) {
      case CollectiveKind::all_reduce:
        all_reduce(collective, stream);
        break;
      case CollectiveKind::broadcast:
        broadcast(collective, stream);
        break;
      case CollectiveKind::all_gather:
        all_gather(collective, stream);
        break;
      case CollectiveKind::reduce_scatter:
        reduce_scatter(collective, stream);
        break;
    }
    return waited_;
  }
  void barrier() {
    lower_->barrier();
    if (upper_) upper_->barrier();
    lower_->barrier();
  }
  void abort(const std::string& reason) noexcept {
    lower_->abort(reason);
    if (upper_) upper_->abort(reason);
  }

 private:
  void all_reduce(const Collective& collective, Stream& stream) {
    lower_->run(collective, stream);
    go_up(collective, collective.tensors, stream);
  }
  void broadcast(const Collective& collective, Stream& stream) {
    Collective part = collective;
    part.root = collective.root % lower_->size();
    if (collective.root / lower_->size() == process_ && part.root != 0) lower_->run(part, stream);
    part.root = collective.root / lower_->size();
    go_up(part, collective.tensors, stream);
  }
  void all_gather(const Collective& collective, Stream& stream) {
    const TensorView &part = collective.tensors[0], &whole = collective.tensors[1];
    TensorType own_type{{lower_->size(), part.elements()}, part.type->dtype};
    const TensorView own{&own_type, whole.data + own_type.bytes() * static_cast<std::size_t>(process_)};
    lower_->run({.kind = CollectiveKind::all_gather, .tensors = {part, own}}, stream);
    go_up({.kind = CollectiveKind::all_gather, .tensors = {own, whole}}, {whole}, stream);
  }
  /// In a copy: the whole is an input, and stays as it is.
  void reduce_scatter(const Collective& collective, Stream& stream) {
    const TensorView &whole = collective.tensors[0], &part = collective.tensors[1];
    copy_.resize(whole.type->bytes());
    std::memcpy(copy_.data(), whole.data, copy_.size());
    all_reduce({.kind = CollectiveKind::all_reduce,
                .reduction = collective.reduction,
                .tensors = {{whole.type, copy_.data()}}},
               stream);
    const std::size_t bytes = part.type->bytes();
    std::memcpy(part.data, copy_.data() + bytes * static_cast<std::size_t>(rank()), bytes);
  }
  /// By the first local rank, which then hands out `tensors`.
  void go_up(const Collective& collective, const std::vector<TensorView>& tensors, Stream& stream) {
    const PeerWait here = between(before_, lower_->times());
    PeerWait& above = (*upper_waits_)[++runs_ % upper_waits_->size()];
    try {
      if (upper_) {
        const CommunicationTimes before = upper_->times();
        upper_->run(collective, stream);
        above = between(before, upper_->times());
      }
    } catch (const std::exception& error) {
      lower_->abort(error.what());
      throw;
    }
    lower_->run({.kind = CollectiveKind::broadcast, .tensors = tensors}, stream);
    const bool last_is_here = above.last == process_ && here.last >= 0;
    waited_ = {.time = here.time + above.time, .last = last_is_here ? process_ * lower_->size() + here.last : -1};
  }

  std::unique_ptr<Communicator> lower_, upper_;
  int process_, processes_;
  std::shared_ptr<UpperWaits> upper_waits_;
  std::size_t runs_ = 0;
  CommunicationTimes before_;
  PeerWait waited_;
  std::vector<std::byte> copy_;
};

/// Shared by a rank and its side collectives.
struct HierarchicalRank {
  HierarchicalRank(Levels run_inline, Levels run_beside)
      : inline_levels(std::move(run_inline)), side_levels(std::move(run_beside)), clock(inline_levels.size()) {}

  Levels inline_levels, side_levels;
  ExchangeClock clock;
  SideQueue queue;  // ends first

  static ExchangeOutcome carry_out(Levels& levels, const Collective& collective, Stream& stream) {
    const Clock::time_point from = Clock::now();
    const PeerWait waited = levels.run(collective, stream);
    const Clock::time_point done = Clock::now();
    const auto last_arrived = from + std::chrono::duration_cast<Clock::duration>(waited.time);
    return {.arrived = from, .last_arrived = std::min(last_arrived, done), .done = done, .last_rank = waited.last};
  }
  void abort(const std::string& reason) noexcept {
    inline_levels.abort(reason);
    side_levels.abort(reason);
  }
};

class HierarchicalSide final : public SideWork {
 public:
  HierarchicalSide(std::shared_ptr<HierarchicalRank> rank, Collective collective)
      : rank_(std::move(rank)), collective_(std::move(collective)) {
    check_collective(collective_, rank_->inline_levels.size());
    work_.carry_out = [this](Clock::duration) {
      outcome_ = HierarchicalRank::carry_out(rank_->side_levels, collective_, *kernels_);
    };
  }
  ~HierarchicalSide() override {
    if (!open_) return;
    rank_->abort(fmt::format("rank {} gave up an {} that it had begun", rank_->inline_levels.rank(),
                             to_string(collective_.kind)));
    rank_->queue.withdraw(work_);
  }

  void begin(Stream& kernels) override {
    kernels.synchronize();
    kernels_ = &kernels;
    open_ = true;
    rank_->queue.push(work_);
  }
  void end(Stream&) override {
    const Clock::time_point from = Clock::now();
    open_ = false;
    rank_->queue.finish(work_);
    rank_->clock.add(collective_.bytes(), outcome_, from);
  }

 private:
  std::shared_ptr<HierarchicalRank> rank_;
  Collective collective_;
  Stream* kernels_ = nullptr;
  ExchangeOutcome outcome_;
  bool open_ = false;
  SideQueue::Work work_;
};

class HierarchicalCommunicator final : public Communicator {
 public:
  HierarchicalCommunicator(Levels run_inline, Levels run_beside, std::string name)
      : rank_(std::make_shared<HierarchicalRank>(std::move(run_inline), std::move(run_beside))),
        name_(std::move(name)) {}

  int rank() const override { return rank_->inline_levels.rank(); }
  int size() const override { return rank_->inline_levels.size(); }
  std::string_view name() const override { return name_; }
  std::string algorithm(const Collective& collective) const override {
    const Communicator* const upper = rank_->inline_levels.upper();
    const std::string lower = rank_->inline_levels.lower().algorithm(collective);
    return upper == nullptr ? lower : fmt::format("{} and {}", lower, upper->algorithm(collective));
  }

  void run(const Collective& collective, Stream& stream) override {
    const Clock::time_point from = Clock::now();
    rank_->clock.add(collective.bytes(), HierarchicalRank::carry_out(rank_->inline_levels, collective, stream), from);
  }
  std::unique_ptr<SideWork> beside(Collective collective) override {
    return std::make_unique<HierarchicalSide>(rank_, std::move(collective));
  }
  void barrier() override { rank_->inline_levels.barrier(); }
  void abort(const std::string& reason) noexcept override { rank_->abort(reason); }
  void set_spans(HostSpans* spans) override { rank_->clock.set_spans(spans); }
  CommunicationTimes times() const override { return rank_->clock.times(); }

 private:
  std::shared_ptr<HierarchicalRank> rank_;
  std::string name_;
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> make_hierarchical_communicators(TwoLevels inline_levels,
                                                                           TwoLevels side_levels) {
  const int process = inline_levels.processes->rank(), processes = inline_levels.processes->size();
  const std::string name = fmt::format("{} and {}", inline_levels.ranks[0]->name(), inline_levels.processes->name());
  const auto inline_waits = std::make_shared<UpperWaits>(), side_waits = std::make_shared<UpperWaits>();
  std::vector<std::unique_ptr<Communicator>> ranks;
  for (std::size_t i = 0; i < inline_levels.ranks.size(); ++i) {  // the first rank takes the ends between processes
    ranks.push_back(std::make_unique<HierarchicalCommunicator>(
        Levels(std::move(inline_levels.ranks[i]), std::move(inline_levels.processes), process, processes, inline_waits),
        Levels(std::move(side_levels.ranks[i]), std::move(side_levels.processes), process, processes, side_waits),
        name));
  }
  return ranks;
}

}  // namespace gpubench
