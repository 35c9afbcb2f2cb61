#include "core/device/memory_nodes.h"

#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace gpubench {
namespace {

/// How many a list of the system holds: "0-1,4".
int count_in(const std::string& list) {
  int count = 0;
  for (std::size_t at = 0; at < list.size();) {
    std::size_t used = 0;
    const int first = std::stoi(list.substr(at), &used);
    at += used;
    int last = first;
    if (at < list.size() && list[at] == '-') {
      last = std::stoi(list.substr(at + 1), &used);
      at += 1 + used;
    }
    count += last - first + 1;
    ++at;
  }
  return count;
}

TEST(MemoryNodes, no_more_than_the_system_has) {
  std::string list = "0";
  std::ifstream("/sys/devices/system/node/has_cpu") >> list;
  EXPECT_GE(memory_nodes(), 1);
  EXPECT_LE(memory_nodes(), count_in(list));
}

}  // namespace
}  // namespace gpubench
