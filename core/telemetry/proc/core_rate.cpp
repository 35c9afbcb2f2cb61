#include "core/telemetry/proc/core_rate.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <numeric>
#include <sched.h>
#include <time.h>

#include "core/base/thread_team.h"

namespace gpubench {
namespace {

constexpr std::size_t blocks = 9;

double thread_time_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Some 5 ms of additions and products that do not wait for each other, so that one thread fills the units of a core.
float work(float factor) {
  std::array<float, 96> sums{};
  for (int repeat = 0; repeat < 600'000; ++repeat) {
    for (float& sum : sums) sum = sum * factor + 0.5F;
  }
  float all = 0;
  for (const float sum : sums) all += sum;
  return all;
}

bool bind(int processor) {
  if (processor < 0 || processor >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

double time_of_work(float factor, std::atomic<float>& sink) {
  const double begun = thread_time_s();
  sink = work(factor);
  return thread_time_s() - begun;
}

}  // namespace

std::optional<double> rate_at_once(const std::vector<int>& processors) {
  if (processors.empty()) return std::nullopt;
  std::vector<double> rates(processors.size());
  std::array<double, blocks> alone{};
  std::atomic<bool> bound = true;
  std::atomic<float> sink = 0;
  std::barrier together(static_cast<std::ptrdiff_t>(processors.size()));
  ThreadTeam(static_cast<int>(processors.size()), [&](int index) {
    const auto i = static_cast<std::size_t>(index);
    if (!bind(processors[i])) bound = false;
    const float factor = 0.5F + static_cast<float>(i) * 1e-6F;
    std::array<double, blocks> at_once{};
    for (std::size_t block = 0; block < blocks; ++block) {  // in turn, so that what else happens slows both alike
      together.arrive_and_wait();
      if (i == 0) alone[block] = time_of_work(factor, sink);
      together.arrive_and_wait();
      at_once[block] = time_of_work(factor, sink);
    }
    together.arrive_and_wait();
    std::array<double, blocks> ratios{};
    for (std::size_t block = 0; block < blocks; ++block) ratios[block] = alone[block] / at_once[block];
    std::ranges::nth_element(ratios, ratios.begin() + blocks / 2);
    rates[i] = ratios[blocks / 2];
  }).join();
  if (!bound) return std::nullopt;
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

}  // namespace gpubench
