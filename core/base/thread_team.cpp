#include "core/base/thread_team.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <system_error>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace gpubench {
namespace {

/// The system counts a joined thread for some microseconds more.
constexpr std::chrono::milliseconds longest_end{100};
constexpr std::chrono::microseconds between_looks{50};

std::ptrdiff_t threads_of_process() {
  std::error_code unknown;
  std::filesystem::directory_iterator first("/proc/self/task", unknown);
  return unknown ? 0 : std::distance(first, std::filesystem::directory_iterator());
}

}  // namespace

ThreadTeam::ThreadTeam(int count, std::function<void(int)> body) : body_(std::move(body)) {
  threads_.reserve(static_cast<std::size_t>(std::max(count, 0)));
  try {
    for (int index = 0; index < count; ++index) threads_.emplace_back([this, index] { serve(index); });
  } catch (const std::system_error& error) {
    const int started = size();
    end();
    throw Error(fmt::format("no more threads can be started: {} of {} ({})", started, count, error.code().message()));
  } catch (...) {
    end();
    throw;
  }
  give(Order::begin);
}

ThreadTeam::~ThreadTeam() {
  join();
}

void ThreadTeam::join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void ThreadTeam::serve(int index) {
  order_.wait(Order::wait);
  if (order_ == Order::begin) body_(index);
}

void ThreadTeam::give(Order order) {
  order_ = order;
  order_.notify_all();
}

void ThreadTeam::end() {
  give(Order::end);
  join();
}

void check_more_threads(int count) {
  const std::ptrdiff_t before = threads_of_process();
  ThreadTeam(count, [](int) {}).join();
  const Stopwatch watch;
  while (threads_of_process() > before && watch.elapsed() < longest_end) std::this_thread::sleep_for(between_looks);
}

}  // namespace gpubench
