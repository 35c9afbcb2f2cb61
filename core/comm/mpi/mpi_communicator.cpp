#include "core/comm/mpi/mpi_communicator.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "core/comm/collective.h"
#include "core/comm/exchange_clock.h"
#include "core/comm/mpi/mpi_exchange.h"
#include "core/comm/side_queue.h"
#include "core/group/mpi/mpi_group.h"

namespace gpubench {
namespace {

class MpiSide;

/// Shared by a communicator and its side collectives; the last one frees it.
struct MpiRank {
  MpiRank(MpiLink& shared, int number, const std::shared_ptr<WaitEnd>& end, Device* gpu)
      : link(shared), channel(number), exchange(shared, number, end, gpu), clock(shared.size()) {}

  MpiLink& link;
  int channel;
  MpiExchange exchange;  // by one thread at a time: the host's, or the queue's
  ExchangeClock clock;
  Clock::time_point last_done = Clock::time_point::min();  // as exchange
  std::vector<MpiSide*> begun;                             // by the host's thread, in their order
  SideQueue queue;                                         // ends first

  ExchangeOutcome carry_out(const Collective& collective, Clock::time_point ready) {
    const ExchangeOutcome outcome = exchange.carry_out(collective, std::max(ready, last_done));
    last_done = outcome.done;
    return outcome;
  }
  void abort(const std::string& reason) const { link.watch()->abort(channel, channel + 1, reason); }
};

class MpiSide final : public SideWork {
 public:
  MpiSide(std::shared_ptr<MpiRank> rank, Collective collective)
      : rank_(std::move(rank)), collective_(std::move(collective)) {
    check_collective(collective_, rank_->link.size());
    work_.carry_out = [this](Clock::duration) { outcome_ = rank_->carry_out(collective_, begun_); };
  }

  ~MpiSide() override {
    const auto open = std::ranges::find(rank_->begun, this);
    if (open == rank_->begun.end()) return;
    rank_->begun.erase(open);
    rank_->abort(
        fmt::format("process {} gave up an {} that it had begun", rank_->link.rank(), to_string(collective_.kind)));
    rank_->queue.withdraw(work_);
  }

  void begin(Stream& kernels) override {
    kernels.synchronize();
    begun_ = Clock::now();
    counted_ = false;
    rank_->begun.push_back(this);
    rank_->queue.push(work_);
  }

  void end(Stream&) override {
    const Clock::time_point from = Clock::now();
    std::erase(rank_->begun, this);
    rank_->queue.finish(work_);
    count(from);
  }

  /// Once done, what the kernels stood still for since `stood_from`.
  void count(Clock::time_point stood_from) {
    if (!counted_) rank_->clock.add(collective_.bytes(), outcome_, stood_from);
    counted_ = true;
  }
  bool failed() const { return work_.failure != nullptr; }

 private:
  std::shared_ptr<MpiRank> rank_;
  Collective collective_;
  Clock::time_point begun_;
  ExchangeOutcome outcome_;
  bool counted_ = false;
  SideQueue::Work work_;
};

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(MpiLink& link, int channel, Device* gpu)
      : end_(link.watch()->channel(channel)),
        rank_(std::make_shared<MpiRank>(link, channel, end_, gpu)),
        name_(gpu == nullptr ? "mpi" : "mpi, CUDA-aware") {}

  int rank() const override { return rank_->link.rank(); }
  int size() const override { return rank_->link.size(); }
  std::string_view name() const override { return name_; }
  std::string algorithm(const Collective& collective) const override { return rank_->exchange.algorithm(collective); }

  void run(const Collective& collective, Stream& stream) override {
    check_collective(collective, size());
    stream.synchronize();
    const Clock::time_point from = Clock::now();
    finish_begun(from);
    const ExchangeOutcome outcome = rank_->carry_out(collective, from);
    rank_->clock.add(collective.bytes(), outcome, from);
  }

  std::unique_ptr<SideWork> beside(Collective collective) override {
    return std::make_unique<MpiSide>(rank_, std::move(collective));
  }

  void barrier() override {
    const Clock::time_point from = Clock::now();
    finish_begun(from);
    static const Collective nothing{.kind = CollectiveKind::broadcast, .tensors = {}};
    rank_->carry_out(nothing, from);
  }

  void abort(const std::string& reason) noexcept override { rank_->abort(reason); }
  CommunicationTimes times() const override { return rank_->clock.times(); }

 private:
  /// Collectives are carried out in their order.
  void finish_begun(Clock::time_point stood_from) {
    if (rank_->begun.empty()) return;
    rank_->queue.drain();
    for (MpiSide* const side : rank_->begun) {
      if (!side->failed()) side->count(stood_from);
    }
  }

  std::shared_ptr<WaitEnd> end_;
  std::shared_ptr<MpiRank> rank_;
  std::string_view name_;
};

}  // namespace

std::unique_ptr<Communicator> make_mpi_communicator(ProcessGroup& group, Device* gpu) {
  auto* const mpi = dynamic_cast<MpiGroup*>(&group);
  if (mpi == nullptr) return nullptr;
  if (gpu != nullptr) {
    const std::int64_t aware = mpi->link().library().is_cuda_aware() ? 1 : 0;
    std::vector<std::int64_t> all(static_cast<std::size_t>(group.size()));
    group.all_gather({&aware, 1}, all);
    if (std::ranges::find(all, 0) != all.end()) return nullptr;
  }
  return std::make_unique<MpiCommunicator>(mpi->link(), mpi->open_channel(), gpu);
}

}  // namespace gpubench
