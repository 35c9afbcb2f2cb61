#include "core/experiment/collectives/collective_rank_trial.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <functional>
#include <numeric>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/device/device.h"
#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

/// Long compared to the microsecond by which ranks leave a collective at different times.
constexpr Seconds shortest_group{2e-4};
/// Waiting for an accelerator takes about 10 us.
constexpr Seconds shortest_group_of_accelerator{5e-3};
constexpr double warmup_share = 0.2;
constexpr Seconds least_sampling{0.05};

StoppingLimits limits(Seconds budget) {
  return {.min_time = std::min(least_sampling, budget), .budget = budget};
}

/// CPU time of this thread; about 0.2 us per call.
std::int64_t nanoseconds_run() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool has_parts(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
}

}  // namespace

CollectiveRankTrial::CollectiveRankTrial(const CollectiveCase& one, const CollectiveRank& rank, Seconds budget)
    : communicator_(*rank.communicator),
      device_(*rank.device),
      stream_(device_.stream()),
      computes_(device_.emulation().empty()),
      case_(one),
      ranks_(communicator_.size()),
      own_(communicator_.rank()),
      warmup_(budget * warmup_share),
      rule_(limits(budget * (1 - warmup_share))) {
  set_up_tensors();
}

void CollectiveRankTrial::set_up_tensors() {
  const std::size_t parts = has_parts(case_.kind) ? static_cast<std::size_t>(ranks_) : 1;
  const auto elements = static_cast<std::int64_t>(case_.bytes / size_of(case_.dtype) / parts);
  if (elements < 1) {
    throw Error(fmt::format("measure.collective: {} bytes are less than one {} element{}", case_.bytes,
                            to_string(case_.dtype), parts > 1 ? fmt::format(" for each of {} ranks", parts) : ""));
  }
  part_ = {{elements}, case_.dtype};
  whole_ = parts == 1 ? part_ : TensorType{{static_cast<std::int64_t>(parts), elements}, case_.dtype};
  case_.bytes = whole_.bytes();
  memory_ = device_.memory().allocate(whole_.bytes(), "measured collective");
  const std::size_t at = parts == 1 ? 0 : static_cast<std::size_t>(own_) * part_.bytes();
  part_view_ = {&part_, memory_.data() + at};
  whole_view_ = {&whole_, memory_.data()};
  collective_.kind = case_.kind;
  if (case_.kind == CollectiveKind::all_gather)
    collective_.tensors = {part_view_, whole_view_};
  else if (case_.kind == CollectiveKind::reduce_scatter)
    collective_.tensors = {whole_view_, part_view_};
  else
    collective_.tensors = {whole_view_};
}

std::optional<CollectiveMeasurement> CollectiveRankTrial::run() {
  write(whole_view_, [&](std::int64_t i) { return collective_input(own_, ranks_, i); });
  Order order = agree({});
  while (order.next == Order::Next::warm_up || order.next == Order::Next::sample) {
    const auto [nanoseconds, ran] = time(order.collectives);
    if (order.next == Order::Next::sample) {
      sampled_.push_back(nanoseconds);
      busy_.push_back(static_cast<double>(ran) / static_cast<double>(nanoseconds));
    }
    order = agree(own_ == 0 ? next_order(order, static_cast<double>(nanoseconds) * 1e-9) : order);
  }
  if (order.next == Order::Next::interrupted) return std::nullopt;
  return summary(order.collectives);
}

CollectiveRankTrial::Order CollectiveRankTrial::agree(Order order) {
  const auto numbers = exchanged({static_cast<std::int64_t>(order.next), order.collectives}, CollectiveKind::broadcast);
  return {static_cast<Order::Next>(numbers[0]), numbers[1]};
}

CollectiveRankTrial::Order CollectiveRankTrial::next_order(const Order& last, double seconds) {
  if (interrupt_requested() || timeout_requested()) return {Order::Next::interrupted, last.collectives};
  if (last.next == Order::Next::sample) {
    return {rule_.add(seconds) ? Order::Next::finish : Order::Next::sample, last.collectives};
  }
  warmed_ += Seconds(seconds);
  const Seconds shortest = device_.shares_host_memory() ? shortest_group : shortest_group_of_accelerator;
  if (Seconds(seconds) < shortest) return {Order::Next::warm_up, 2 * last.collectives};
  return {warmed_ < warmup_ ? Order::Next::warm_up : Order::Next::sample, last.collectives};
}

std::pair<std::int64_t, std::int64_t> CollectiveRankTrial::time(std::int64_t collectives) {
  // So that ranks start the timed collectives as close together as they leave each one.
  if (collectives > 1)
    communicator_.run(collective_, stream_);
  else
    communicator_.barrier();
  stream_.synchronize();
  const std::int64_t ran = nanoseconds_run();
  const Clock::time_point begin = Clock::now();
  for (std::int64_t i = 0; i < collectives; ++i) communicator_.run(collective_, stream_);
  stream_.synchronize();
  const std::int64_t past = std::chrono::nanoseconds(Clock::now() - begin).count();
  return {past, nanoseconds_run() - ran};
}

std::int64_t CollectiveRankTrial::count_wrong_once() {
  const std::int64_t row = part_.elements();
  const auto sum = [&](std::int64_t i) { return collective_sum(ranks_, i); };
  // Rows differ at every position, whatever their length.
  const auto gathered = [&](std::int64_t i) { return collective_sum(ranks_, i + i / row); };
  const auto run = [&] {
    communicator_.run(collective_, stream_);
    stream_.synchronize();
  };
  switch (case_.kind) {
    case CollectiveKind::all_gather:
      write(whole_view_, [&](std::int64_t i) { return i / row == own_ ? gathered(i) : 0; });
      run();
      return wrong_in(whole_view_, gathered);
    case CollectiveKind::broadcast:
      write(whole_view_, [&](std::int64_t i) { return own_ == collective_.root ? sum(i) : 0; });
      run();
      return wrong_in(whole_view_, sum);
    case CollectiveKind::reduce_scatter:
      write(whole_view_, [&](std::int64_t i) { return collective_input(own_, ranks_, i); });
      run();
      return wrong_in(part_view_, [&](std::int64_t i) { return sum(own_ * row + i); });
    case CollectiveKind::all_reduce:
      break;
  }
  write(whole_view_, [&](std::int64_t i) { return collective_input(own_, ranks_, i); });
  run();
  return wrong_in(whole_view_, sum);
}

CollectiveMeasurement CollectiveRankTrial::summary(std::int64_t group) {
  constexpr double millionths = 1e6;
  const auto busy = static_cast<std::int64_t>(
      // An accelerator's host thread only waits.
      (device_.shares_host_memory() ? median_in_place(busy_) : 1) * millionths);
  CollectiveMeasurement result{.one = case_,
                               .ranks = ranks_,
                               .implementation = std::string(communicator_.name()),
                               .algorithm = communicator_.algorithm(collective_)};
  const double per_collective = 1e-9 / static_cast<double>(group);
  // In messages of a size that every algorithm supports.
  constexpr std::size_t most = 128;
  for (std::size_t first = 0; first < sampled_.size(); first += most) {
    const auto from = sampled_.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t count = std::min(most, sampled_.size() - first);
    for (const std::int64_t sum :
         exchanged({from, from + static_cast<std::ptrdiff_t>(count)}, CollectiveKind::all_reduce)) {
      result.samples.push_back(static_cast<double>(sum) * per_collective / ranks_);
    }
  }
  result.time = estimate_median(result.samples);
  const std::int64_t own_total = std::accumulate(sampled_.begin(), sampled_.end(), std::int64_t{0});
  const auto totals = exchanged({own_total}, CollectiveKind::all_gather);
  const double scale = per_collective / static_cast<double>(sampled_.size());
  result.fastest_rank = static_cast<double>(std::ranges::min(totals)) * scale;
  result.slowest_rank = static_cast<double>(std::ranges::max(totals)) * scale;
  result.mean_rank =
      static_cast<double>(std::accumulate(totals.begin(), totals.end(), std::int64_t{0})) * scale / ranks_;
  result.busy = static_cast<double>(std::ranges::max(exchanged({busy}, CollectiveKind::all_gather))) / millionths;
  result.wrong = std::nullopt;
  if (computes_) result.wrong = exchanged({count_wrong_once()}, CollectiveKind::all_reduce)[0];
  return result;
}

std::vector<std::int64_t> CollectiveRankTrial::exchanged(const std::vector<std::int64_t>& numbers,
                                                         CollectiveKind kind) {
  if (!computes_) return exchanged_on_hosts(numbers, kind);
  const auto count = std::ssize(numbers);
  const TensorType mine{{count}, Dtype::i64}, all{{ranks_, count}, Dtype::i64};
  const Buffer input = device_.memory().allocate(mine.bytes(), "numbers of a rank");
  const Buffer output = device_.memory().allocate(all.bytes(), "numbers of all ranks");
  const bool gather = kind == CollectiveKind::all_gather;
  Collective collective{.kind = kind, .tensors = {{&mine, input.data()}}};
  if (gather) collective.tensors.push_back({&all, output.data()});
  stream_.copy(input.data(), numbers.data(), mine.bytes());
  communicator_.run(collective, stream_);
  std::vector<std::int64_t> result(static_cast<std::size_t>(gather ? all.elements() : count));
  stream_.copy(result.data(), (gather ? output : input).data(), result.size() * sizeof(std::int64_t));
  stream_.synchronize();
  communicator_.check();
  return result;
}

std::vector<std::int64_t> CollectiveRankTrial::exchanged_on_hosts(const std::vector<std::int64_t>& numbers,
                                                                  CollectiveKind kind) {
  const std::vector<std::vector<std::int64_t>> all = communicator_.gather_on_hosts(numbers);
  if (kind == CollectiveKind::broadcast) return all[0];
  std::vector<std::int64_t> result;
  for (const std::vector<std::int64_t>& one : all) {
    if (kind == CollectiveKind::all_gather || result.empty()) {
      result.insert(result.end(), one.begin(), one.end());
    } else {
      std::ranges::transform(result, one, result.begin(), std::plus<>());
    }
  }
  return result;
}

void CollectiveRankTrial::write(const TensorView& tensor, const NumberAt& number) {
  if (device_.shares_host_memory()) return write_numbers(tensor, number);
  std::vector<std::byte> host(tensor.type->bytes());
  write_numbers({tensor.type, host.data()}, number);
  stream_.copy(tensor.data, host.data(), host.size());
  stream_.synchronize();
}

std::int64_t CollectiveRankTrial::wrong_in(const TensorView& tensor, const NumberAt& expected) {
  if (device_.shares_host_memory()) return count_wrong(tensor, expected);
  std::vector<std::byte> host(tensor.type->bytes());
  stream_.copy(host.data(), tensor.data, host.size());
  stream_.synchronize();
  return count_wrong({tensor.type, host.data()}, expected);
}

}  // namespace gpubench
