#include "core/comm/staged/staged_communicator.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"
#include "core/comm/collective.h"
#include "core/comm/exchange_clock.h"
#include "core/comm/side_queue.h"

namespace gpubench {
namespace {

/// The stream that orders the exchange in host memory: it is requested when its tensors have arrived.
class HostOrder final : public Stream {
 public:
  void record(Event&) override {}
  void wait_for(const Event& event) override { event.wait(); }
  void copy(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void synchronize() override {}
};

/// Copies of one collective, in the order of the streams that they belong to.
struct StagedWork {
  StagedWork(Device& device, int rank, StagedTensors how)
      : tensors(device, rank, how),
        reached(device.new_timed_event()),
        done(device.new_timed_event()),
        met(device.new_timed_event()) {}
  StagedCollective tensors;
  std::unique_ptr<Event> reached, done;  // the kernels' place of it; the results' arrival
  std::unique_ptr<Event> met;            // where the kernels can go on with the results alone
  ExchangeOutcome outcome;
};

class StagedSide;

/// Shared by a communicator and its side collectives; the last one frees it.
struct StagedRank {
  StagedRank(Device& on, std::unique_ptr<Communicator> by, StagedTensors how)
      : device(on),
        inner(std::move(by)),
        tensors(how),
        out(device.new_stream()),
        back(device.new_stream()),
        clock(inner->size()),
        inlined(device, inner->rank(), how) {}
  ~StagedRank() { settle(); }
  StagedRank(const StagedRank&) = delete;
  StagedRank& operator=(const StagedRank&) = delete;

  Device& device;
  std::unique_ptr<Communicator> inner;  // by one thread at a time: the host's, or the queue's
  StagedTensors tensors;
  std::unique_ptr<Stream> out, back;  // each way, as links have
  ExchangeClock clock;
  Clock::time_point last_done = Clock::time_point::min();  // as inner
  StagedWork inlined;
  std::vector<StagedSide*> begun;  // by the host's thread, in their order
  SideQueue queue;                 // ends first

  void start(StagedWork& work, Stream& kernels) const {
    kernels.record(*work.reached);
    out->wait_for(*work.reached);
    work.tensors.copy_out(*out);
  }
  void carry_out(StagedWork& work) {
    try {
      exchange(work);
    } catch (...) {
      settle();
      throw;
    }
  }
  void exchange(StagedWork& work);
  /// Until no copy is under way, before its memory is given back.
  void settle() const noexcept {
    for (Stream* const stream : {out.get(), back.get()}) {
      try {
        stream->synchronize();
      } catch (const Error&) {  // waits for the device report this error
      }
    }
  }
};

/// The copies count as exchange: this rank has arrived when its kernels have, and the last one when what it was waited
/// for is over.
void StagedRank::exchange(StagedWork& work) {
  device.bind_to_thread();
  work.reached->wait();
  ExchangeOutcome& outcome = work.outcome;
  outcome.arrived = std::max(Clock::now(), last_done);
  const CommunicationTimes before = inner->times();
  outcome.last_rank = -1;
  HostOrder host;
  for (std::size_t piece = 0; piece < work.tensors.pieces(); ++piece) {
    work.tensors.wait_for(piece);
    inner->run(work.tensors.piece(piece), host);
    work.tensors.copy_back(piece, *back);
    if (piece != 0) continue;
    const std::vector<std::int64_t> arrivals = inner->times().last_arrivals;
    for (std::size_t rank = 0; rank < arrivals.size(); ++rank) {
      if (arrivals[rank] > before.last_arrivals[rank]) outcome.last_rank = static_cast<int>(rank);
    }
  }
  back->record(*work.done);
  work.done->wait();
  outcome.done = Clock::now();
  const Seconds waited = inner->times().peer_wait - before.peer_wait;
  outcome.last_arrived = outcome.arrived + std::chrono::duration_cast<Clock::duration>(waited);
  last_done = outcome.done;
}

/// When kernels began to stand still for results that have come: never, if they are not there yet.
Clock::time_point stood_from(const StagedWork& work, const Event& met) {
  if (!met.ready()) return work.outcome.done;
  return work.outcome.done - std::chrono::duration_cast<Clock::duration>(work.done->since(met));
}

class StagedSide final : public SideWork {
 public:
  StagedSide(std::shared_ptr<StagedRank> rank, Collective collective)
      : rank_(std::move(rank)),
        collective_(std::move(collective)),
        staged_(rank_->device, rank_->inner->rank(), rank_->tensors) {
    check_collective(collective_, rank_->inner->size());
    staged_.tensors.assign(collective_);
    work_.carry_out = [this](Clock::duration) { rank_->carry_out(staged_); };
  }

  ~StagedSide() override {
    const auto open = std::ranges::find(rank_->begun, this);
    if (open != rank_->begun.end()) {
      rank_->begun.erase(open);
      rank_->inner->abort(
          fmt::format("rank {} gave up an {} that it had begun", rank_->inner->rank(), to_string(collective_.kind)));
      rank_->queue.withdraw(work_);
    }
    rank_->settle();
  }

  void begin(Stream& kernels) override {
    counted_ = false;
    rank_->start(staged_, kernels);
    rank_->begun.push_back(this);
    rank_->queue.push(work_);
  }

  void end(Stream& kernels) override {
    kernels.record(*staged_.met);
    std::erase(rank_->begun, this);
    rank_->queue.finish(work_);
    kernels.wait_for(*staged_.done);
    count(*staged_.met);
  }

  /// Once done, what the kernels stood still for since they `met` it.
  void count(const Event& met) {
    if (!counted_) rank_->clock.add(collective_.bytes(), staged_.outcome, stood_from(staged_, met));
    counted_ = true;
  }
  bool failed() const { return work_.failure != nullptr; }

 private:
  std::shared_ptr<StagedRank> rank_;
  Collective collective_;
  StagedWork staged_;
  bool counted_ = false;
  SideQueue::Work work_;
};

class StagedCommunicator final : public Communicator {
 public:
  StagedCommunicator(Device& device, std::unique_ptr<Communicator> inner, StagedTensors tensors)
      : name_(fmt::format("{}{}", inner->name(), tensors == StagedTensors::copied ? " through host memory" : "")),
        rank_(std::make_shared<StagedRank>(device, std::move(inner), tensors)) {}

  int rank() const override { return rank_->inner->rank(); }
  int size() const override { return rank_->inner->size(); }
  std::string_view name() const override { return name_; }
  std::string algorithm(const Collective& collective) const override { return rank_->inner->algorithm(collective); }

  void run(const Collective& collective, Stream& stream) override {
    check_collective(collective, size());
    StagedWork& work = rank_->inlined;
    work.tensors.assign(collective);
    rank_->start(work, stream);
    finish_begun(*work.reached);
    rank_->carry_out(work);
    stream.wait_for(*work.done);
    rank_->clock.add(collective.bytes(), work.outcome, work.outcome.arrived);
  }

  std::unique_ptr<SideWork> beside(Collective collective) override {
    return std::make_unique<StagedSide>(rank_, std::move(collective));
  }

  void barrier() override {
    rank_->queue.drain();
    rank_->inner->barrier();
  }

  void check() override { rank_->inner->check(); }
  void abort(const std::string& reason) noexcept override { rank_->inner->abort(reason); }
  void set_spans(HostSpans* spans) override { rank_->clock.set_spans(spans); }
  CommunicationTimes times() const override { return rank_->clock.times(); }

 private:
  /// Collectives are carried out in their order; the kernels stand still for them from `met` on.
  void finish_begun(const Event& met) {
    if (rank_->begun.empty()) return;
    rank_->queue.drain();
    for (StagedSide* const side : rank_->begun) {
      if (!side->failed()) side->count(met);
    }
  }

  std::string name_;
  std::shared_ptr<StagedRank> rank_;
};

}  // namespace

std::unique_ptr<Communicator> make_staged_communicator(Device& device, std::unique_ptr<Communicator> inner,
                                                       StagedTensors tensors) {
  return std::make_unique<StagedCommunicator>(device, std::move(inner), tensors);
}

}  // namespace gpubench
