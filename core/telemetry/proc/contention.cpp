#include "core/telemetry/proc/contention.h"

#include <algorithm>
#include <unistd.h>

#include "core/telemetry/proc/cpu_times.h"
#include "core/telemetry/proc/proc_file.h"

namespace gpubench {
namespace {

/// Between two looks at the threads. A look costs about 10 us for each of them.
constexpr Clock::duration interval = std::chrono::milliseconds(50);
/// /proc/stat counts whole ticks of each processor, at both ends of an interval.
constexpr double ticks_off = 1;

/// Field 2 of schedstat: nanoseconds that the thread waited for a processor while it could run.
std::optional<double> delay_in(const std::string& schedstat) {
  const std::size_t second = schedstat.find(' ');
  if (second == std::string::npos) return std::nullopt;
  const std::optional<double> nanoseconds = leading_number(schedstat.substr(second));
  return nanoseconds ? std::optional(1e-9 * *nanoseconds) : std::nullopt;
}

std::optional<double> difference(const std::optional<double>& after, const std::optional<double>& before) {
  if (!after || !before) return std::nullopt;
  return std::max(0.0, *after - *before);
}

std::optional<double> mean_clock_hz(const std::filesystem::path& root) {
  std::error_code error;
  double sum = 0;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root / "sys/devices/system/cpu", error)) {
    const std::optional<double> kilohertz = leading_number(read_small_file(entry.path() / "cpufreq/scaling_cur_freq"));
    if (!kilohertz) continue;
    sum += 1e3 * *kilohertz;
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

}  // namespace

std::optional<double> Contention::lost_share() const {
  if (!delayed_s && !stolen_s) return std::nullopt;
  double lost = stolen_s.value_or(0);
  if (delayed_s) {
    // Without knowledge of the others, all of the delay may be theirs.
    const double slack = ticks_off * processors / ticks_per_second();
    lost += others_s ? std::min(*delayed_s, std::max(0.0, *others_s - slack)) : *delayed_s;
  }
  return lost > 0 ? lost / (cpu_s + lost) : 0;
}

std::optional<double> Contention::others_share() const {
  if (!others_s || wall_s <= 0) return std::nullopt;
  return std::min(1.0, *others_s / (wall_s * processors));
}

std::optional<double> Contention::stolen_share() const {
  if (!stolen_s || wall_s <= 0) return std::nullopt;
  return std::min(1.0, *stolen_s / (wall_s * processors));
}

ContentionWatch::ContentionWatch(std::filesystem::path root, std::shared_ptr<Ticker> ticker)
    : root_(std::move(root)), ticker_(std::move(ticker)) {}

ContentionWatch::Totals ContentionWatch::totals() const {
  Totals totals;
  totals.cpu_s = process_cpu_seconds();
  if (const std::optional<MachineTime> machine = machine_time(read_small_file(root_ / "proc/stat"))) {
    totals.machine_busy_s = machine->busy_s;
    totals.stolen_s = machine->stolen_s;
  }
  const std::string status = read_small_file(root_ / "proc/self/status");
  totals.involuntary_switches = leading_number(field_after(status, "nonvoluntary_ctxt_switches"));
  return totals;
}

/// A thread that is new has its whole delay behind begin(); one that has ended keeps what was seen of it.
void ContentionWatch::add_threads() {
  const std::lock_guard lock(mutex_);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root_ / "proc/self/task", error)) {
    const std::optional<double> delay = delay_in(read_small_file(entry.path() / "schedstat"));
    if (!delay) continue;
    double& before = delays_[entry.path().filename().string()];
    // A number that has become smaller is another thread's, which was given the number of one that has ended.
    delayed_s_ = delayed_s_.value_or(0) + (*delay < before ? *delay : *delay - before);
    before = *delay;
  }
}

void ContentionWatch::begin() {
  thread_ = {};
  delays_.clear();
  add_threads();
  if (delayed_s_) delayed_s_ = 0;
  first_ = totals();
  began_ = ticker_->now();
  thread_ = std::jthread([this](const std::stop_token& stop) {
    while (ticker_->wait_until(ticker_->now() + interval, stop)) add_threads();
  });
}

Contention ContentionWatch::so_far() {
  add_threads();
  const Totals now = totals();
  Contention all;
  all.wall_s = Seconds(ticker_->now() - began_).count();
  all.processors = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  all.cpu_s = now.cpu_s - first_.cpu_s;
  all.delayed_s = delayed_s_;
  all.stolen_s = difference(now.stolen_s, first_.stolen_s);
  const std::optional<double> busy = difference(now.machine_busy_s, first_.machine_busy_s);
  if (busy) all.others_s = std::max(0.0, *busy - all.cpu_s);
  all.involuntary_switches = difference(now.involuntary_switches, first_.involuntary_switches);
  all.clock_hz = mean_clock_hz(root_);
  return all;
}

Contention ContentionWatch::end() {
  thread_ = {};
  return so_far();
}

}  // namespace gpubench
