#include "lua/host/thread_policy.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/program.h"

namespace gpubench {
namespace {

constexpr const char* turns_name = "GOMP_SPINCOUNT";
// Any of these in the environment means that the user decides.
constexpr const char* decided_by[] = {"OMP_WAIT_POLICY", turns_name};

// How long a waiting thread spins before it sleeps. Between two kernels that divide their work lie ones of a single
// thread, of 10 to 30 us; a thread that sleeps meanwhile costs 15 to 35 us to wake. One that spins for long starves the
// input pipeline's threads and, on a busy machine, its own team. Step times of Dense(128), Dense(10) at batch 64 on
// 2 cores with spins of 11, 22, 33, 55 and 220 us: 253, 167, 161, 155 and 154 us on an idle machine; 0.34, 0.39, 0.51,
// 0.57 and 0.89 ms next to one other busy program. Training beside a pipeline that decodes images has the narrowest
// intervals with 22 us; from 55 us on, workers beside it gain nothing over a serial map.
constexpr std::chrono::nanoseconds spin{22'000};
// Marks the restarted process, so that it does not restart again.
constexpr const char* marker = "GPUBENCH_THREAD_POLICY";

// One turn of libgomp's loop: it looks at the value, then relaxes the processor, which takes 4 ns on some and 50 on
// others.
void spin_turns(const std::atomic<int>& value, int turns) {
  for (int turn = 0; turn < turns && value.load(std::memory_order_relaxed) == 0; ++turn) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    asm volatile("" ::: "memory");
#endif
  }
}

// Turns that take as long as `spin`, in whole 500: the fastest of several looks, so that neither a busy machine nor
// small differences of clocks change the policy from one process to the next.
std::string turns_of_spin() {
  constexpr int looks = 20, turns = 500;
  const std::atomic<int> value{0};
  auto fastest = std::chrono::nanoseconds::max();
  for (int look = 0; look < looks; ++look) {
    const auto begin = std::chrono::steady_clock::now();
    spin_turns(value, turns);
    fastest = std::min<std::chrono::nanoseconds>(fastest, std::chrono::steady_clock::now() - begin);
  }
  constexpr std::int64_t step = 500;
  const std::int64_t ns = std::max<std::int64_t>(1, fastest.count());
  const std::int64_t steps = (spin.count() * turns / ns + step / 2) / step;
  return std::to_string(std::max<std::int64_t>(1, steps) * step);
}

}  // namespace

void ensure_thread_policy(char** argv) {
  if (std::getenv(marker)) return;
  for (const char* name : decided_by)
    if (std::getenv(name)) return;
  const std::string turns = turns_of_spin();
  setenv(turns_name, turns.c_str(), 1);
  setenv(marker, turns.c_str(), 1);
  execv(program_path().c_str(), argv);  // so that ps and pkill know it by its name
  execv("/proc/self/exe", argv);        // where it has been replaced meanwhile
  throw Error(std::string("cannot restart with ") + turns_name + "=" + turns + " (" + std::strerror(errno) + "); set " +
              turns_name + " yourself");
}

}  // namespace gpubench
