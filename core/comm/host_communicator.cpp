#include "core/comm/host_communicator.h"

#include <algorithm>
#include <fmt/format.h>
#include <thread>
#include <utility>
#include <vector>

#include "core/comm/side_queue.h"

namespace gpubench {
namespace {

class HostSide;

/// Shared by a communicator and its side collectives; the last one frees it.
struct HostRank {
  explicit HostRank(std::unique_ptr<HostExchange> by) : exchange(std::move(by)), clock(exchange->size()) {}

  std::unique_ptr<HostExchange> exchange;
  ExchangeClock clock;
  Clock::time_point last_done = Clock::time_point::min();  // as exchange
  std::vector<HostSide*> begun;                            // by the host's thread, in their order
  SideQueue queue;                                         // ends first

  void prepare(PreparedCollective& asked) const {
    check_collective(asked.collective, exchange->size());
    exchange->check(asked.collective);
    asked.signature = signature(asked.collective);
    asked.pieces.assign(asked.collective.tensors);
  }

  ExchangeOutcome carry_out(const PreparedCollective& asked, Clock::time_point ready, Clock::duration spin) {
    if (exchange->is_done(asked.collective))
      return {.arrived = ready, .last_arrived = ready, .done = ready, .last_rank = 0};
    const ExchangeOutcome outcome = exchange->carry_out(asked, std::max(ready, last_done), spin);
    last_done = outcome.done;
    return outcome;
  }
};

class HostSide final : public SideWork {
 public:
  HostSide(std::shared_ptr<HostRank> rank, Collective collective) : rank_(std::move(rank)) {
    asked_.collective = std::move(collective);
    rank_->prepare(asked_);
    work_.carry_out = [this](Clock::duration spin) { outcome_ = rank_->carry_out(asked_, begun_, spin); };
  }

  ~HostSide() override {
    const auto open = std::ranges::find(rank_->begun, this);
    if (open == rank_->begun.end()) return;
    rank_->begun.erase(open);
    HostExchange& exchange = *rank_->exchange;
    exchange.abort(fmt::format("{} {} gave up an {} that it had begun", exchange.noun(), exchange.rank(),
                               to_string(asked_.collective.kind)));
    rank_->queue.withdraw(work_);
  }

  void begin(Stream& kernels) override {
    kernels.synchronize();
    begun_ = Clock::now();
    counted_ = false;
    if (is_done()) {
      outcome_ = rank_->carry_out(asked_, begun_, {});
      return;
    }
    rank_->begun.push_back(this);
    rank_->queue.push(work_);
  }

  void end(Stream&) override {
    const Clock::time_point from = Clock::now();
    if (!is_done()) {
      std::erase(rank_->begun, this);
      rank_->queue.finish(work_);
    }
    count(from);
  }

  /// Once done, what the kernels stood still for since `stood_from`.
  void count(Clock::time_point stood_from) {
    if (!counted_) rank_->clock.add(asked_.collective.bytes(), outcome_, stood_from);
    counted_ = true;
  }
  bool failed() const { return work_.failure != nullptr; }

 private:
  bool is_done() const { return rank_->exchange->is_done(asked_.collective); }

  std::shared_ptr<HostRank> rank_;
  PreparedCollective asked_;
  Clock::time_point begun_;
  ExchangeOutcome outcome_;
  bool counted_ = false;
  SideQueue::Work work_;
};

class HostCommunicator final : public Communicator {
 public:
  explicit HostCommunicator(std::unique_ptr<HostExchange> exchange)
      : rank_(std::make_shared<HostRank>(std::move(exchange))),
        // If ranks share processors, a spinning rank would keep the others from arriving.
        spin_(size() <= static_cast<int>(std::thread::hardware_concurrency()) ? spin_time : Clock::duration::zero()) {}
  ~HostCommunicator() override { rank_->exchange->leave(); }

  int rank() const override { return rank_->exchange->rank(); }
  int size() const override { return rank_->exchange->size(); }
  std::string_view name() const override { return rank_->exchange->name(); }
  std::string algorithm(const Collective& collective) const override { return rank_->exchange->algorithm(collective); }

  void run(const Collective& collective, Stream& stream) override {
    inline_.collective = collective;
    rank_->prepare(inline_);
    stream.synchronize();
    const Clock::time_point from = Clock::now();
    finish_begun(from);
    const ExchangeOutcome outcome = rank_->carry_out(inline_, from, spin_);
    rank_->clock.add(collective.bytes(), outcome, from);
  }

  std::unique_ptr<SideWork> beside(Collective collective) override {
    return std::make_unique<HostSide>(rank_, std::move(collective));
  }

  void barrier() override {
    finish_begun(Clock::now());
    inline_.collective = {.kind = CollectiveKind::broadcast, .tensors = {}};
    rank_->prepare(inline_);
    rank_->carry_out(inline_, Clock::now(), spin_);
  }

  void abort(const std::string& reason) noexcept override { rank_->exchange->abort(reason); }
  void set_spans(HostSpans* spans) override { rank_->clock.set_spans(spans); }
  CommunicationTimes times() const override { return rank_->clock.times(); }

 private:
  /// Collectives are carried out in their order.
  void finish_begun(Clock::time_point stood_from) {
    if (rank_->begun.empty()) return;
    rank_->queue.drain();
    for (HostSide* const side : rank_->begun) {
      if (!side->failed()) side->count(stood_from);
    }
  }

  std::shared_ptr<HostRank> rank_;
  Clock::duration spin_;
  PreparedCollective inline_;  // keeps its memory from call to call
};

}  // namespace

std::unique_ptr<Communicator> make_host_communicator(std::unique_ptr<HostExchange> exchange) {
  return std::make_unique<HostCommunicator>(std::move(exchange));
}

}  // namespace gpubench
