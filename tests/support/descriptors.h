// The files that this process has open, for tests that nothing is left behind.
#pragma once
#include <filesystem>
#include <iterator>

namespace gpubench {

inline std::ptrdiff_t open_descriptors() {
  namespace fs = std::filesystem;
  return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator{});
}

}  // namespace gpubench
