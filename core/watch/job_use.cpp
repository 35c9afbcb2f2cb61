#include "core/watch/job_use.h"

#include <algorithm>

#include "core/telemetry/proc/contention.h"

namespace gpubench {
namespace {

/// Amounts of `second` added to those of the same process.
void add_amounts(JobProcess& sum, const JobProcess& second, double weight) {
  sum.cpu_s += weight * second.cpu_s;
  sum.delayed_s += weight * second.delayed_s;
  sum.major_faults += weight * second.major_faults;
  add_to(sum.storage_bytes, second.storage_bytes, weight);
  add_to(sum.asked_bytes, second.asked_bytes, weight);
  sum.resident_bytes = std::max(sum.resident_bytes, second.resident_bytes);
  sum.private_bytes = std::max(sum.private_bytes, second.private_bytes);
  sum.threads = std::max(sum.threads, second.threads);
}

}  // namespace

void add_to(std::optional<double>& sum, std::optional<double> value, double weight) {
  if (value) sum = sum.value_or(0) + weight * *value;
}

void add_use(std::vector<JobProcess>& sums, std::span<const JobProcess> processes, double weight) {
  auto at = sums.begin();
  for (const JobProcess& one : processes) {
    at = std::ranges::lower_bound(at, sums.end(), one.process, {}, &JobProcess::process);
    if (at == sums.end() || at->process != one.process)
      at = sums.insert(at, JobProcess{.process = one.process, .parent = one.parent});
    add_amounts(*at, one, weight);
  }
}

JobProcess sum_of(std::span<const JobProcess> processes) {
  JobProcess sum;
  bool knows_storage = !processes.empty(), knows_asked = knows_storage;
  for (const JobProcess& one : processes) {
    sum.cpu_s += one.cpu_s;
    sum.delayed_s += one.delayed_s;
    sum.major_faults += one.major_faults;
    add_to(sum.storage_bytes, one.storage_bytes);
    add_to(sum.asked_bytes, one.asked_bytes);
    knows_storage = knows_storage && one.storage_bytes;
    knows_asked = knows_asked && one.asked_bytes;
    sum.resident_bytes += one.resident_bytes;
    sum.private_bytes += one.private_bytes;
    sum.threads += one.threads;
  }
  if (!knows_storage) sum.storage_bytes.reset();
  if (!knows_asked) sum.asked_bytes.reset();
  return sum;
}

std::vector<JobProcess> JobUse::of(std::span<const int> numbers) const {
  std::vector<JobProcess> chosen;
  for (const JobProcess& one : processes) {
    if (std::ranges::find(numbers, one.process) != numbers.end()) chosen.push_back(one);
  }
  return chosen;
}

std::optional<double> JobUse::lost_share() const {
  if (!others_s || !stolen_s) return std::nullopt;
  const JobProcess job = all();
  const double used = job.cpu_s + *others_s;
  const double taken = std::min(job.delayed_s, *others_s) + (used > 0 ? *stolen_s * job.cpu_s / used : 0);
  return taken > 0 ? taken / (job.cpu_s + taken) : 0;
}

bool JobUse::is_disturbed() const {
  constexpr double least_processors = 0.05;
  const double others = others_s.value_or(0) + stolen_s.value_or(0);
  return lost_share().value_or(0) > disturbed_share && others > least_processors * seconds;
}

}  // namespace gpubench
