#include "core/experiment/collectives/collectives.h"

#include <exception>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/thread_team.h"
#include "core/device/bound_thread.h"
#include "core/device/device.h"
#include "core/experiment/collectives/collective_rank_trial.h"
#include "core/experiment/steps/step_measurement.h"

namespace gpubench {
namespace {

/// Calls body(index) on a thread for each rank. If a rank throws, the others end; its exception is rethrown, not their
/// PeerLost.
template <class Body>
void run_on_all(std::span<const CollectiveRank> ranks, const Body& body) {
  std::vector<std::exception_ptr> causes(ranks.size()), losses(ranks.size());
  const auto run_one = [&](std::size_t index) {
    try {
      const BoundThread bound(ranks[index].device->memory_node());
      ranks[index].device->bind_to_thread();
      body(index);
    } catch (const PeerLost&) {
      losses[index] = std::current_exception();
    } catch (const std::exception& error) {
      causes[index] = std::current_exception();
      ranks[index].communicator->abort(
          fmt::format("rank {} failed: {}", ranks[index].communicator->rank(), error.what()));
    }
  };
  ThreadTeam(static_cast<int>(ranks.size()), [&](int index) { run_one(static_cast<std::size_t>(index)); }).join();
  for (const auto& failures : {causes, losses}) {
    for (const std::exception_ptr& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
  }
}

/// Below this share, times are not those of ranks with a processor each.
constexpr double least_busy = 0.9;

Doubt doubt_about(const CollectiveMeasurement& measurement, Scatter scatter) {
  if (measurement.wrong > 0)
    return {DoubtKind::wrong_result, fmt::format("{} elements of the result are wrong", *measurement.wrong)};
  if (measurement.busy < least_busy) {
    return {
        DoubtKind::shared_processors,
        fmt::format("the ranks shared processors: each ran for {:.0f} % of the time at most", 100 * measurement.busy)};
  }
  return interval_doubt(measurement.time, scatter);
}

}  // namespace

std::vector<CollectiveMeasurement> measure_collectives(std::span<const CollectiveCase> cases,
                                                       std::span<const CollectiveRank> ranks, Seconds budget) {
  if (cases.empty()) throw Error("measure.collective: there is nothing to measure; give at least one size");
  std::vector<CollectiveMeasurement> results;
  for (const CollectiveCase& one : cases) {
    std::optional<CollectiveMeasurement> result;
    run_on_all(ranks, [&](std::size_t index) {
      CollectiveRankTrial trial(one, ranks[index], budget / static_cast<double>(cases.size()));
      std::optional<CollectiveMeasurement> mine = trial.run();
      if (index == 0) result = std::move(mine);
    });
    check_interrupt();
    if (!result) throw Interrupted();  // of another process
    results.push_back(std::move(*result));
  }
  return results;
}

double bus_factor(CollectiveKind kind, int ranks) {
  const double share = static_cast<double>(ranks - 1) / ranks;
  if (kind == CollectiveKind::all_reduce) return 2 * share;
  return kind == CollectiveKind::broadcast ? 1 : share;
}

Record to_record(const CollectiveMeasurement& measurement, Scatter scatter) {
  const auto bytes = static_cast<double>(measurement.one.bytes);
  Record record{{"op", std::string(to_string(measurement.one.kind))},
                {"dtype", std::string(to_string(measurement.one.dtype))},
                {"implementation", measurement.implementation},
                {"algorithm", measurement.algorithm},
                {"replicas", static_cast<std::int64_t>(measurement.ranks)},
                {"message_bytes", static_cast<std::int64_t>(measurement.one.bytes)},
                {"steps", std::ssize(measurement.samples)}};
  set_estimate(record, "collective_time_s", measurement.time);
  record.set("fastest_rank_time_s", measurement.fastest_rank);
  record.set("mean_rank_time_s", measurement.mean_rank);
  record.set("slowest_rank_time_s", measurement.slowest_rank);
  set_rate(record, "algorithm_bytes_per_s", bytes, measurement.time);
  const bool has_bus = measurement.ranks > 1;
  if (has_bus)
    set_rate(record, "bus_bytes_per_s", bytes * bus_factor(measurement.one.kind, measurement.ranks), measurement.time);
  if (measurement.wrong) record.set("wrong", *measurement.wrong);
  set_doubt(record, doubt_about(measurement, scatter));
  record.set("detail", "no shares: one collective is timed, not a step");
  return record;
}

}  // namespace gpubench
