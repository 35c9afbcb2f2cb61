#include "core/telemetry/proc/contention.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <sched.h>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/telemetry/proc/proc_file.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

enum ContentionColumn : std::size_t {
  processors_count,
  processors_s,
  idle_s,
  others_s,
  neighbours_s,
  stolen_s,
  delayed_s,
  cpu_s,
  switches,
  clock_hz
};
constexpr std::array<std::string_view, 10> contention_columns = {
    "processors", "processors_s",         "idle_s",  "others_s", "neighbours_s", "stolen_s", "delayed_s",
    "cpu_s",      "involuntary_switches", "clock_hz"};

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();
constexpr double idle_others_share = 0.05, idle_stolen_share = 0.01;
constexpr Seconds idle_window{1.0};
constexpr double most_of_a_core = 0.0025;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double ticks_per_s() {
  return static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::optional<double> known(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

double not_negative(double value) {
  return value < 0 ? 0 : value;
}

/// The number that is a folder's or label's whole name.
std::optional<int> number_in_name(std::string_view name) {
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

}  // namespace

ProcessUse own_use() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  return {seconds_of(use.ru_utime) + seconds_of(use.ru_stime), static_cast<double>(use.ru_nivcsw)};
}

std::vector<int> allowed_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> processors;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) processors.push_back(cpu);
  }
  return processors;
}

// The lines "cpu0 user nice system idle iowait irq softirq steal ..." of proc(5)'s stat; guest time is part of user
// time.
std::map<int, ProcessorTimes> processor_times(const fs::path& root, std::span<const int> processors) {
  std::map<int, ProcessorTimes> all;
  std::istringstream lines(read_small_file(root / "proc/stat"));
  for (std::string line; std::getline(lines, line) && line.starts_with("cpu");) {
    std::istringstream fields(line.substr(3));
    std::string label;
    fields >> label;
    const std::optional<int> number = number_in_name(label);
    if (line[3] == ' ' || !number) continue;  // the sum over all processors
    if (!processors.empty() && std::ranges::find(processors, *number) == processors.end()) continue;
    std::array<double, 8> ticks{};
    for (double& tick : ticks) fields >> tick;
    if (!fields) continue;
    const auto [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
    all[*number] = {.busy_s = (user + nice + system + irq + softirq) / ticks_per_s(),
                    .idle_s = (idle + iowait) / ticks_per_s(),
                    .stolen_s = steal / ticks_per_s()};
  }
  return all;
}

ProcessorTimes passed_between(const std::map<int, ProcessorTimes>& before, const std::map<int, ProcessorTimes>& now) {
  ProcessorTimes all;
  for (const auto& [number, times] : now) {
    const auto earlier = before.find(number);
    if (earlier == before.end()) continue;  // it was switched on meanwhile
    all.busy_s += times.busy_s - earlier->second.busy_s;
    all.idle_s += times.idle_s - earlier->second.idle_s;
    all.stolen_s += times.stolen_s - earlier->second.stolen_s;
  }
  return all;
}

ContentionProbe::ContentionProbe(ContentionSources sources) : sources_(std::move(sources)), last_(take()) {}

std::span<const std::string_view> ContentionProbe::columns() const {
  return contention_columns;
}

ContentionProbe::Reading ContentionProbe::take() const {
  return {.own = sources_.own(),
          .neighbours_s = neighbours_time(),
          .delays_ns = delays_ns(),
          .processors = processor_times(sources_.root, sources_.processors)};
}

// "pid (name) state ppid ... utime stime ...": the name may hold blanks and brackets; utime is the 12th field after it.
double ContentionProbe::neighbours_time() const {
  double sum = 0;
  for (const int process : sources_.neighbours) {
    const std::string stat = read_small_file(sources_.root / "proc" / std::to_string(process) / "stat");
    std::istringstream fields(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
    std::string skipped;
    double user = not_known, system = not_known;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    fields >> user >> system;
    sum += fields ? (user + system) / ticks_per_s() : not_known;
  }
  return sum;
}

// task/TID/schedstat: "ran delayed slices", in nanoseconds. A thread that ends meanwhile has no file any more.
std::map<int, std::uint64_t> ContentionProbe::delays_ns() const {
  std::map<int, std::uint64_t> delays;
  std::error_code error;
  for (const fs::directory_entry& task : fs::directory_iterator(sources_.root / "proc/self/task", error)) {
    const std::optional<int> number = number_in_name(task.path().filename().native());
    std::istringstream fields(read_small_file(task.path() / "schedstat"));
    std::uint64_t ran = 0, delayed = 0;
    if (number && fields >> ran >> delayed) delays[*number] = delayed;
  }
  return delays;
}

double ContentionProbe::clock_since(const Reading& before, const Reading& now) const {
  double weight = 0, sum = 0;
  for (const auto& [number, times] : now.processors) {
    const auto earlier = before.processors.find(number);
    if (earlier == before.processors.end()) continue;
    const fs::path folder = sources_.root / "sys/devices/system/cpu" / fmt::format("cpu{}", number);
    const auto kilohertz = leading_number(read_small_file(folder / "cpufreq/scaling_cur_freq"));
    if (!kilohertz) return not_known;
    const double busy_s = times.busy_s - earlier->second.busy_s;
    weight += busy_s;
    sum += busy_s * *kilohertz * 1e3;
  }
  return weight > 0 ? sum / weight : not_known;
}

void ContentionProbe::read(std::span<double> values) {
  assert(values.size() == contention_columns.size());
  Reading now = take();
  std::uint64_t delayed_ns = 0;
  for (const auto& [thread, delay] : now.delays_ns) {
    const std::uint64_t before = last_.delays_ns[thread];
    // The number of a thread that has ended may be used again.
    delayed_ns += delay < before ? delay : delay - before;
  }
  const ProcessorTimes all = passed_between(last_.processors, now.processors);
  const bool tells = !now.processors.empty();
  const double own_s = now.own.cpu_s - last_.own.cpu_s, run_s = own_s + now.neighbours_s - last_.neighbours_s;
  values[processors_count] = static_cast<double>(now.processors.size());
  values[processors_s] = tells ? all.busy_s + all.idle_s + all.stolen_s : not_known;
  values[idle_s] = tells ? all.idle_s : not_known;
  values[others_s] = tells ? all.busy_s - run_s : not_known;
  values[neighbours_s] = run_s - own_s;
  values[stolen_s] = tells ? all.stolen_s : not_known;
  values[delayed_s] = now.delays_ns.empty() ? not_known : 1e-9 * static_cast<double>(delayed_ns);
  values[cpu_s] = own_s;
  values[switches] = now.own.involuntary_switches - last_.own.involuntary_switches;
  values[clock_hz] = clock_since(last_, now);
  last_ = std::move(now);
}

Contention contention_of(const Readings& readings) {
  const auto total = [&](ContentionColumn column) { return readings.total(contention_columns[column]); };
  const double cpu = total(cpu_s), stolen = total(stolen_s), delayed = total(delayed_s);
  const double others = not_negative(total(others_s)), run = cpu + total(neighbours_s);
  // /proc/stat counts ticks of each processor. What they may have rounded up was not taken.
  const double rounding = std::sqrt(readings.highest(contention_columns[processors_count])) / ticks_per_s();
  const double most = run == 0 ? 0 : not_negative(others - rounding) * cpu / run;
  const double delayed_by_others = std::isnan(delayed) ? not_negative(most - total(idle_s)) : std::min(most, delayed);
  const double taken = delayed_by_others + (run == 0 ? 0 : stolen * cpu / (run + others));
  return {.lost_share = known(taken == 0 ? 0 : taken / (cpu + taken)),
          .others_share = known(others / total(processors_s)),
          .stolen_share = known(stolen / total(processors_s)),
          .delayed_s = known(delayed),
          .cpu_s = known(cpu),
          .involuntary_switches = known(total(switches)),
          .clock_hz = known(readings.mean_of_intervals(contention_columns[clock_hz]))};
}

bool Contention::is_idle() const {
  return others_share && *others_share < idle_others_share && stolen_share && *stolen_share < idle_stolen_share;
}

std::unique_ptr<Sampler> contention_sampler(ContentionSources sources, std::shared_ptr<Ticker> ticker) {
  std::vector<std::unique_ptr<Probe>> probes;
  probes.push_back(std::make_unique<ContentionProbe>(std::move(sources)));
  return std::make_unique<Sampler>(std::move(probes), SamplerOptions{.most_of_core = most_of_a_core},
                                   std::move(ticker));
}

Contention wait_for_idle_machine(ContentionSources sources, Seconds limit, Ticker& ticker) {
  ContentionProbe probe(std::move(sources));
  Readings window(probe.columns(), 2);
  Contention last;
  const auto wait_until = [&](Clock::time_point time) {
    for (;;) {
      check_interrupt();
      if (ticker.now() >= time) return;
      ticker.wait_until(std::min(time, ticker.now() + interrupt_period), {});
    }
  };
  const Clock::time_point end = ticker.now() + std::chrono::duration_cast<Clock::duration>(limit);
  while (!last.is_idle() && ticker.now() < end) {
    window.clear();
    probe.read(window.add(ticker.now()));
    wait_until(std::min(end, ticker.now() + std::chrono::duration_cast<Clock::duration>(idle_window)));
    probe.read(window.add(ticker.now()));
    if (std::isnan(window.total(contention_columns[processors_s]))) {
      throw Error("waiting for an idle machine: /proc/stat does not tell how busy the processors are");
    }
    last = contention_of(window);
  }
  return last;
}

}  // namespace gpubench
