// Ranks of one process, each on a thread of its own.
#pragma once
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace gpubench::support {

/// Calls body(rank) on a thread for each rank; what each threw, or "".
inline std::vector<std::string> run_ranks(int size, const std::function<void(int)>& body) {
  std::vector<std::string> failures(static_cast<std::size_t>(size));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(rank);
      } catch (const std::exception& error) {
        failures[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  threads.clear();
  return failures;
}

}  // namespace gpubench::support
