#include "core/watch/job_tree.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <ctime>
#include <unistd.h>
#include <utility>

#include "core/base/group_limits.h"

namespace gpubench {
namespace {

/// A number may be given to another process: from time to time all processes are looked at again.
constexpr std::size_t reads_until_all_are_new = 64;
/// The control group's files change slowly, and are many.
constexpr std::size_t reads_between_limits = 8;

double rise(double before, double now) {
  return std::max(now - before, 0.0);
}

std::optional<double> rise(std::optional<double> before, std::optional<double> now) {
  return before && now ? std::optional(rise(*before, *now)) : std::nullopt;
}

void raise_to(std::optional<double>& highest, std::optional<double> value) {
  if (value) highest = std::max(highest.value_or(0), *value);
}

// The number of a thread that has ended may be used again; its time then begins at 0.
double delayed_between(const ProcessReading& before, const ProcessReading& now) {
  std::uint64_t sum_ns = 0;
  auto earlier = before.delays_ns.begin();
  for (const auto& [thread, delay] : now.delays_ns) {
    while (earlier != before.delays_ns.end() && earlier->first < thread) ++earlier;
    const bool is_known = earlier != before.delays_ns.end() && earlier->first == thread && earlier->second <= delay;
    sum_ns += is_known ? delay - earlier->second : delay;
  }
  return 1e-9 * static_cast<double>(sum_ns);
}

std::vector<JobProcess> values_of(const std::map<int, JobProcess>& processes) {
  std::vector<JobProcess> values;
  for (const auto& [number, one] : processes) values.push_back(one);
  return values;
}

/// What dead children were already counted with, by the process that has waited for them.
struct Counted {
  double cpu_s = 0, major_faults = 0;
  std::optional<double> storage_bytes, asked_bytes;
  int dead = 0;  // one of them
};

/// Dead processes count for the next of their ancestors that still runs: who has waited for a child hands on what that
/// child had waited for.
std::map<int, Counted> counted_of_dead(const std::map<int, ProcessReading>& before,
                                       const std::map<int, ProcessReading>& now) {
  const auto is_gone = [&](const ProcessReading& one) {
    const auto later = now.find(one.process);
    return later == now.end() || later->second.started_ticks != one.started_ticks;
  };
  std::map<int, Counted> counted;
  for (const auto& [number, dead] : before) {
    if (!is_gone(dead)) continue;
    int heir = dead.parent;
    for (auto above = before.find(heir); above != before.end() && is_gone(above->second) && above->first != number;
         above = before.find(heir))
      heir = above->second.parent == heir ? 0 : above->second.parent;
    Counted& sum = counted[heir];
    sum.cpu_s += dead.cpu_s + dead.reaped_cpu_s;
    sum.major_faults += dead.major_faults + dead.reaped_major_faults;
    add_to(sum.storage_bytes, dead.storage_bytes);
    add_to(sum.asked_bytes, dead.asked_bytes);
    sum.dead = number;
  }
  return counted;
}

Seconds thread_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return Seconds(static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec));
}

}  // namespace

JobTree::JobTree(int root, JobTreeOptions options, Clock::time_point now)
    : root_(root), options_(std::move(options)), begin_(now), last_at_(now) {
  assert(options_.most_readings >= 2 && options_.most_of_core > 0);
  members_ = take_members();
  Interval first;
  set_machine(first);
  root_before_ = root_reading_;
  next_read_ = now + options_.period;
}

JobTree::Members JobTree::take_members() {
  const std::filesystem::path proc = options_.root / "proc";
  if (reads_++ % reads_until_all_are_new == 0) strangers_.clear();
  root_reading_ = read_process_stat(proc, root_);
  Members members;
  std::set<int> strangers;
  std::map<int, int> parents;  // of processes that have not been seen before
  for (const int number : numbered_folders(proc)) {
    if (number == root_) continue;
    if (strangers_.contains(number)) {
      strangers.insert(number);
      continue;
    }
    const auto known = members_.find(number);
    std::optional<ProcessReading> reading = known != members_.end() ? read_process(proc, number) : std::nullopt;
    if (reading && reading->started_ticks == known->second.started_ticks) {
      members.emplace(number, std::move(*reading));
    } else if (const auto stat = read_process_stat(proc, number)) {
      parents.emplace(number, stat->parent);
    }
  }
  for (bool found = true; found;) {  // a child may have a lower number than its parent
    found = false;
    for (auto at = parents.begin(); at != parents.end();) {
      if (at->second != root_ && !members.contains(at->second)) {
        ++at;
        continue;
      }
      if (auto reading = read_process(proc, at->first)) members.emplace(at->first, std::move(*reading));
      at = parents.erase(at);
      found = true;
    }
  }
  for (const auto& [number, parent] : parents) strangers.insert(number);
  strangers_ = std::move(strangers);
  // Of a process that has ended, and that its parent has not waited for, only times are left.
  for (auto& [number, reading] : members) {
    const auto before = members_.find(number);
    if (!reading.has_ended) continue;
    const bool is_known = before != members_.end() && before->second.started_ticks == reading.started_ticks;
    // Its parent is charged with the bytes of a child that nobody has seen.
    reading.storage_bytes = is_known ? before->second.storage_bytes : 0;
    reading.asked_bytes = is_known ? before->second.asked_bytes : 0;
    if (is_known) reading.delays_ns = before->second.delays_ns;
  }
  return members;
}

JobTree::Interval JobTree::interval_between(const Members& before, const Members& now, const TimeSpan& span) {
  Interval interval;
  interval.span = span;
  std::map<int, Counted> counted = counted_of_dead(before, now);
  std::map<int, JobProcess> processes;
  // What children used behind their last reading is theirs; what was used by children that nobody has seen, their
  // parent's.
  const auto add_reaped = [&](const ProcessReading& last, const ProcessReading& next, JobProcess* parent) {
    const auto known = counted.find(next.process);
    const Counted of_dead = known != counted.end() ? known->second : Counted{};
    JobProcess* heir = parent;
    if (of_dead.dead != 0) {
      const ProcessReading& dead = before.at(of_dead.dead);
      heir = &processes.try_emplace(of_dead.dead, JobProcess{.process = of_dead.dead, .parent = dead.parent})
                  .first->second;
      if (dead.storage_bytes) heir->storage_bytes = heir->storage_bytes.value_or(0);
      if (dead.asked_bytes) heir->asked_bytes = heir->asked_bytes.value_or(0);
    }
    if (heir == nullptr) return;
    heir->cpu_s += rise(of_dead.cpu_s, next.reaped_cpu_s - last.reaped_cpu_s);
    heir->major_faults += rise(of_dead.major_faults, next.reaped_major_faults - last.reaped_major_faults);
  };
  for (const auto& [number, reading] : now) {
    const auto earlier = before.find(number);
    const bool is_known = earlier != before.end() && earlier->second.started_ticks == reading.started_ticks;
    ProcessReading zero;
    zero.storage_bytes = zero.asked_bytes = 0;
    const ProcessReading& last = is_known ? earlier->second : zero;
    JobProcess& one =
        processes.try_emplace(number, JobProcess{.process = number, .parent = reading.parent}).first->second;
    one.cpu_s += rise(last.cpu_s, reading.cpu_s);
    one.major_faults += rise(last.major_faults, reading.major_faults);
    one.delayed_s = delayed_between(last, reading);
    const auto dead = counted.find(number);
    const Counted of_dead = dead != counted.end() ? dead->second : Counted{};
    const auto read_by_itself = [](std::optional<double> all, std::optional<double> of_children) {
      return all ? std::optional(rise(of_children.value_or(0), *all)) : std::nullopt;
    };
    one.storage_bytes = read_by_itself(rise(last.storage_bytes, reading.storage_bytes), of_dead.storage_bytes);
    one.asked_bytes = read_by_itself(rise(last.asked_bytes, reading.asked_bytes), of_dead.asked_bytes);
    one.resident_bytes = reading.resident_bytes;
    one.private_bytes = reading.private_bytes;
    one.threads = reading.threads;
    interval.resident_bytes += reading.resident_bytes;
    interval.private_bytes += reading.private_bytes;
    interval.most_processes += reading.has_ended ? 0 : 1;
    add_reaped(last, reading, &one);
  }
  if (root_before_ && root_reading_) add_reaped(*root_before_, *root_reading_, nullptr);
  interval.running_processes = interval.most_processes;
  interval.processes = values_of(processes);
  return interval;
}

void JobTree::set_machine(Interval& interval) {
  std::map<int, ProcessorTimes> processors = processor_times(options_.root, options_.processors);
  const double own_s = options_.own().cpu_s;
  if (!processors.empty() && !processors_.empty()) {
    const ProcessorTimes passed = passed_between(processors_, processors);
    double job_s = 0;
    for (const JobProcess& one : interval.processes) job_s += one.cpu_s;
    interval.processors_s = passed.busy_s + passed.idle_s + passed.stolen_s;
    interval.idle_s = passed.idle_s;
    interval.others_s = passed.busy_s - job_s - (own_s - own_s_);  // below 0 by rounding; sums even that out
    interval.stolen_s = passed.stolen_s;
  }
  processors_ = std::move(processors);
  own_s_ = own_s;
  const std::optional<double> throttled_s = group_throttled_s(options_.root);
  interval.throttled_s = rise(throttled_s_, throttled_s);
  throttled_s_ = throttled_s;
  if ((reads_ - 1) % reads_between_limits == 0) {
    const GroupLimits limits = group_limits(options_.root);
    group_memory_bytes_ = limits.memory_bytes;
    group_memory_used_bytes_ = limits.memory_bytes ? std::optional(limits.memory_used_bytes) : std::nullopt;
  }
  interval.group_memory_used_bytes = group_memory_used_bytes_;
}

void JobTree::read(Clock::time_point now) {
  const Seconds since = thread_time();
  Members members = take_members();
  Interval interval = interval_between(members_, members, {last_at_, now});
  set_machine(interval);
  members_ = std::move(members);
  root_before_ = root_reading_;
  if (now > last_at_) {
    intervals_.push_back(std::move(interval));
  } else if (!intervals_.empty()) {
    join(intervals_.back(), interval);
  }
  last_at_ = std::max(now, last_at_);
  if (intervals_.size() > options_.most_readings) join_neighbours();
  const Seconds cost = thread_time() - since;
  next_read_ =
      now + std::max(options_.period, std::chrono::duration_cast<Clock::duration>(cost / options_.most_of_core));
}

void JobTree::join(Interval& first, const Interval& second) {
  add_use(first.processes, second.processes, 1);
  const double before_s = first.span.seconds(), after_s = second.span.seconds();
  if (before_s + after_s > 0)
    first.running_processes =
        (first.running_processes * before_s + second.running_processes * after_s) / (before_s + after_s);
  first.most_processes = std::max(first.most_processes, second.most_processes);
  first.resident_bytes = std::max(first.resident_bytes, second.resident_bytes);
  first.private_bytes = std::max(first.private_bytes, second.private_bytes);
  add_to(first.processors_s, second.processors_s);
  add_to(first.idle_s, second.idle_s);
  add_to(first.others_s, second.others_s);
  add_to(first.stolen_s, second.stolen_s);
  add_to(first.throttled_s, second.throttled_s);
  raise_to(first.group_memory_used_bytes, second.group_memory_used_bytes);
  first.readings += second.readings;
  first.span.end = second.span.end;
}

void JobTree::join_neighbours() {
  std::vector<Interval> joined;
  for (std::size_t i = 0; i < intervals_.size(); i += 2) {
    joined.push_back(std::move(intervals_[i]));
    if (i + 1 < intervals_.size()) join(joined.back(), intervals_[i + 1]);
  }
  intervals_ = std::move(joined);
}

std::vector<int> JobTree::processes() const {
  std::vector<int> numbers;
  for (const auto& [number, reading] : members_) {
    if (!reading.has_ended) numbers.push_back(number);
  }
  return numbers;
}

JobUse JobTree::use(std::span<const TimeSpan> spans) const {
  JobUse use;
  for (const Interval& interval : intervals_) {
    double seconds = 0;
    for (const TimeSpan& span : spans) seconds += interval.span.overlap(span);
    if (seconds <= 0) continue;
    const double weight = seconds / interval.span.seconds();
    add_use(use.processes, interval.processes, weight);
    use.seconds += seconds;
    use.readings += interval.readings;
    use.mean_processes += seconds * interval.running_processes;
    use.most_processes = std::max(use.most_processes, interval.most_processes);
    use.resident_bytes = std::max(use.resident_bytes, interval.resident_bytes);
    use.private_bytes = std::max(use.private_bytes, interval.private_bytes);
    add_to(use.processors_s, interval.processors_s, weight);
    add_to(use.idle_s, interval.idle_s, weight);
    add_to(use.others_s, interval.others_s, weight);
    add_to(use.stolen_s, interval.stolen_s, weight);
    add_to(use.throttled_s, interval.throttled_s, weight);
    raise_to(use.group_memory_used_bytes, interval.group_memory_used_bytes);
  }
  if (use.seconds > 0) use.mean_processes /= use.seconds;
  if (use.readings > 0) use.group_memory_bytes = group_memory_bytes_;
  // Ticks of each processor: what they may have rounded up was not used by others.
  static const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (use.others_s)
    use.others_s = std::max(*use.others_s - std::sqrt(static_cast<double>(processors_.size())) / ticks, 0.0);
  return use;
}

}  // namespace gpubench
