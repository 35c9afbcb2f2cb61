#include "lua/host/thread_policy.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/program.h"

namespace gpubench {
namespace {

// Any of these in the environment means that the user decides.
constexpr const char* decided_by[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"};

struct Setting {
  const char* name;
  const char* value;
};
// A team that spins for long starves the input pipeline's threads and, on a busy machine, itself; one that sleeps at
// once pays a wake-up of several microseconds per kernel. Step times of Dense(128), Dense(10) at batch 32 on 2 cores
// with 1000, 10000 and 100000 turns: 83, 82 and 83 us on an idle machine; 0.22, 1.1 and 13 ms next to one other busy
// program. Dense layers of 1024 at batch 128 pay 6 % for the smallest on an idle machine.
constexpr Setting policy = {"GOMP_SPINCOUNT", "1000"};
// Marks the restarted process, so that it does not restart again.
constexpr const char* marker = "GPUBENCH_THREAD_POLICY";

}  // namespace

void ensure_thread_policy(char** argv) {
  if (std::getenv(marker)) return;
  for (const char* name : decided_by)
    if (std::getenv(name)) return;
  setenv(policy.name, policy.value, 1);
  setenv(marker, policy.value, 1);
  execv(program_path().c_str(), argv);  // so that ps and pkill know it by its name
  execv("/proc/self/exe", argv);        // where it has been replaced meanwhile
  throw Error(std::string("cannot restart with ") + policy.name + "=" + policy.value + " (" + std::strerror(errno) +
              "); set " + policy.name + " yourself");
}

}  // namespace gpubench
