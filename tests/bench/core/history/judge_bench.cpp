// How long a history of a million values is judged, and with how much memory: 2500 series of 400 nights, 50 of which
// become slower. The first call makes the file; each later one judges it.
//
//   build/release/tests/bench/core/history/history_judge_bench FILE
#include <fmt/format.h>
#include <sys/resource.h>

#include "core/base/clock.h"
#include "core/history/judge.h"
#include "core/history/store_run.h"
#include "tests/core/history/nights.h"

namespace gpubench {
namespace {

constexpr int nights = 400, series = 2500, changed_every = 50, changed_from = 200;

RunValue value_of(int night, int number) {
  const double level = number % changed_every == 0 && night > changed_from ? 1.1 : 1.0;
  const int mixed = (night * 7919 + number * 104729) % 1000;
  const double value = level * (1 + 0.002 * (mixed / 500.0 - 1));
  return {.key = {"host", "card", "gpu:0", "suite", "experiment", fmt::format("n={}", number), "step_time_s"},
          .column = column_of("step_time_s"),
          .watched = true,
          .value = value,
          .low = 0.99 * value,
          .high = 1.01 * value};
}

void fill(RunHistory& history) {
  Transaction transaction(history.database());
  for (int night = 0; night < nights; ++night) {
    RunValues run{.host = "host",
                  .experiment = "experiment",
                  .name = fmt::format("run{}", night),
                  .suite = "suite",
                  .started = support::date_of(night),
                  .environment = "{}"};
    for (int number = 0; number < series; ++number) run.values.push_back(value_of(night, number));
    store_run(history.database(), run, night + 1);
  }
  transaction.commit();
}

}  // namespace
}  // namespace gpubench

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: history_judge_bench FILE\n");
    return 2;
  }
  gpubench::RunHistory history(argv[1]);
  if (history.runs().empty()) {
    gpubench::fill(history);
    fmt::print("wrote {}\n", argv[1]);
    return 0;
  }
  const gpubench::Stopwatch time;
  const std::size_t changes = judge(history).size();
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  fmt::print("{} changes reported in {:.2f} s, {} MiB at most\n", changes, time.elapsed().count(),
             use.ru_maxrss / 1024);
  return 0;
}
