#include "core/comm/emulated/emulated_communicator.h"

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <cstddef>
#include <fmt/format.h>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/backend/emulated/emulated_device.h"
#include "core/base/error.h"
#include "core/comm/collective.h"
#include "core/comm/exchange_clock.h"

namespace gpubench {
namespace {

template <class Message>
class Meeting {
 public:
  explicit Meeting(int ranks) : incoming_(static_cast<std::size_t>(ranks)), all_(incoming_.size()) {}

  /// Blocks until every rank has come, and returns the messages of all, by rank. Throws PeerLost after abort().
  std::vector<Message> meet(int rank, Message message) {
    std::unique_lock lock(mutex_);
    check();
    incoming_[static_cast<std::size_t>(rank)] = std::move(message);
    const std::size_t meeting = meetings_;
    if (++came_ < incoming_.size()) {
      everybody_.wait(lock, [&] { return meetings_ != meeting || aborted_; });
      if (meetings_ == meeting) check();
    } else {
      all_ = incoming_;
      came_ = 0;
      ++meetings_;
      everybody_.notify_all();
    }
    // Nobody can finish the next meeting before this rank has come to it.
    return all_;
  }

  /// Ends all current and later waits. The first reason counts.
  void abort(const std::string& reason) noexcept {
    const std::lock_guard lock(mutex_);
    if (!aborted_) reason_ = reason;
    aborted_ = true;
    everybody_.notify_all();
  }
  void check_alive() {
    const std::lock_guard lock(mutex_);
    check();
  }

 private:
  void check() const {
    if (aborted_) throw PeerLost(reason_);
  }

  std::mutex mutex_;
  std::condition_variable everybody_;
  std::vector<Message> incoming_, all_;
  std::size_t came_ = 0, meetings_ = 0;
  bool aborted_ = false;
  std::string reason_;
};

/// What a rank tells the others.
struct Arrival {
  Clock::time_point ready;
  Clock::duration length{};  ///< of the collective, as this rank's accelerator would take
  std::uint64_t signature = 0;
  std::vector<std::int64_t> numbers;
};

/// A ring moves all but a rank's own share, twice for a reduction whose result all get. Latency is that of a tree,
/// which libraries take for small messages.
double seconds_of(const Collective& collective, const Profile& profile, int ranks) {
  if (ranks == 1) return profile.kernel_s;
  const auto hops = std::bit_width(static_cast<unsigned>(ranks - 1));
  const int phases = collective.kind == CollectiveKind::all_reduce ? 2 : 1;
  const double share = static_cast<double>(ranks - 1) / ranks;
  return profile.kernel_s + phases * (hops * profile.latency_s +
                                      share * static_cast<double>(collective.bytes()) / profile.peer_bytes_per_s);
}

class EmulatedSide;

class EmulatedCommunicator final : public Communicator {
 public:
  EmulatedCommunicator(std::shared_ptr<Meeting<Arrival>> meeting, EmulatedDevice& device, int rank, int size)
      : meeting_(std::move(meeting)), device_(device), rank_(rank), size_(size), clock_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string_view name() const override { return "emulated"; }
  std::string algorithm(const Collective&) const override { return "ring"; }

  void run(const Collective& collective, Stream& stream) override {
    check_collective(collective, size_);
    EmulatedStream& own = emulated_stream(stream);
    const ExchangeOutcome outcome = exchange(collective, own.end());
    own.wait_until(outcome.done);
    clock_.add(collective.bytes(), outcome, outcome.arrived);
  }

  std::unique_ptr<SideWork> beside(Collective collective) override;

  void barrier() override { meeting_->meet(rank_, {}); }
  std::vector<std::vector<std::int64_t>> gather_on_hosts(const std::vector<std::int64_t>& numbers) override {
    std::vector<std::vector<std::int64_t>> all;
    for (Arrival& one : meeting_->meet(rank_, {{}, {}, 0, numbers})) all.push_back(std::move(one.numbers));
    return all;
  }
  void check() override { meeting_->check_alive(); }
  void abort(const std::string& reason) noexcept override { meeting_->abort(reason); }
  CommunicationTimes times() const override { return clock_.times(); }

  /// Books the collective after `ready`, when its tensors are there.
  ExchangeOutcome exchange(const Collective& collective, Clock::time_point ready);
  ExchangeClock& clock() { return clock_; }

 private:
  std::shared_ptr<Meeting<Arrival>> meeting_;
  EmulatedDevice& device_;
  int rank_, size_;
  ExchangeClock clock_;
  Clock::time_point last_done_ = Clock::time_point::min();  // the same on all ranks
  std::shared_ptr<const std::string> span_name_ = std::make_shared<const std::string>("collective");
  std::shared_ptr<const std::string> lane_ =
      std::make_shared<const std::string>(fmt::format("{} exchanges", to_string(device_.id())));
};

ExchangeOutcome EmulatedCommunicator::exchange(const Collective& collective, Clock::time_point ready) {
  ExchangeOutcome outcome;
  outcome.arrived = std::max({ready, last_done_, launch_on_host(device_, 0)});
  const std::uint64_t own = signature(collective);
  const Clock::duration length = to_clock(seconds_of(collective, device_.profile(), size_));
  const std::vector<Arrival> all = meeting_->meet(rank_, {outcome.arrived, length, own, {}});
  for (std::size_t other = 0; other < all.size(); ++other) {
    if (all[other].signature == own) continue;
    throw Error(
        fmt::format("{}: rank {} requests another collective than rank {}; all must request the same ones, in the "
                    "same order",
                    to_string(collective.kind), other, rank_));
  }
  const auto last = std::ranges::max_element(all, {}, &Arrival::ready);
  outcome.last_arrived = last->ready;
  outcome.last_rank = static_cast<int>(last - all.begin());
  outcome.done = outcome.last_arrived + std::ranges::max_element(all, {}, &Arrival::length)->length;
  last_done_ = outcome.done;
  if (device_.log().records()) {
    device_.log().add(
        {SpanClass::communication, span_name_, lane_, *device_.tracer_index(), 0, {outcome.arrived, outcome.done}});
  }
  return outcome;
}

class EmulatedSide final : public SideWork {
 public:
  EmulatedSide(EmulatedCommunicator& communicator, Collective collective)
      : communicator_(communicator), collective_(std::move(collective)) {}

  void begin(Stream& kernels) override {
    outcome_ = communicator_.exchange(collective_, emulated_stream(kernels).end());
  }
  void end(Stream& kernels) override {
    EmulatedStream& own = emulated_stream(kernels);
    const Clock::time_point met = own.end();
    own.wait_until(outcome_.done);
    communicator_.clock().add(collective_.bytes(), outcome_, std::min(met, outcome_.done));
  }

 private:
  EmulatedCommunicator& communicator_;
  Collective collective_;
  ExchangeOutcome outcome_;
};

std::unique_ptr<SideWork> EmulatedCommunicator::beside(Collective collective) {
  check_collective(collective, size_);
  return std::make_unique<EmulatedSide>(*this, std::move(collective));
}

}  // namespace

std::vector<std::unique_ptr<Communicator>> make_emulated_communicators(std::span<Device* const> devices) {
  const int size = static_cast<int>(devices.size());
  const auto meeting = std::make_shared<Meeting<Arrival>>(size);
  std::vector<std::unique_ptr<Communicator>> communicators;
  for (int rank = 0; rank < size; ++rank) {
    communicators.push_back(std::make_unique<EmulatedCommunicator>(
        meeting, emulated_device(*devices[static_cast<std::size_t>(rank)]), rank, size));
  }
  return communicators;
}

}  // namespace gpubench
