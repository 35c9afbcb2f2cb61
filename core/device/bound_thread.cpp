#include "core/device/bound_thread.h"

#include <cerrno>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <system_error>

#include "core/base/error.h"

namespace gpubench {
namespace {

std::vector<int> thread_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return processors;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &set)) processors.push_back(processor);
  }
  return processors;
}

cpu_set_t set_of(std::span<const int> processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(processor, &set);
  return set;
}

}  // namespace

const std::vector<int>& process_processors() {
  static const std::vector<int> processors = thread_processors();
  return processors;
}

void bind_thread(std::span<const int> processors) {
  const cpu_set_t set = set_of(processors);
  if (sched_setaffinity(0, sizeof set, &set) == 0) return;
  throw Error(fmt::format("cannot bind a thread to the processors {}: {}", fmt::join(processors, ", "),
                          std::generic_category().message(errno)));
}

BoundThread::BoundThread(const MemoryNode* node) {
  if (node == nullptr || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  const cpu_set_t there = set_of(node->processors);
  if (CPU_EQUAL(&before_, &there)) return;
  bind_thread(node->processors);
  bound_ = true;
}

BoundThread::~BoundThread() {
  // Fails when those processors have been taken from the process meanwhile: which it runs on is the system's then.
  if (bound_) sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace gpubench
