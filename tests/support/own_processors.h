// Where the calling thread may run.
#pragma once
#include <gtest/gtest.h>
#include <sched.h>
#include <vector>

namespace gpubench::support {

inline std::vector<int> own_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  std::vector<int> own;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &set)) own.push_back(processor);
  }
  return own;
}

}  // namespace gpubench::support
