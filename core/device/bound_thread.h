// On which processors threads may run. What a thread starts inherits that, so that threads are bound only while they
// work for one memory node.
#pragma once
#include <sched.h>
#include <span>
#include <vector>

#include "core/device/memory_nodes.h"

namespace gpubench {

/// Those that this process was given, by its launcher or taskset; empty where the system does not say. Read at the
/// first call, which comes before any thread is bound.
const std::vector<int>& process_processors();

/// From now on this thread runs on these only. Throws Error with the system's reason.
void bind_thread(std::span<const int> processors);

/// While it lives, this thread runs on the processors of `node`; nullptr: as before. They may be nested.
/// Costs two calls of the system, and nothing where the thread is there already or `node` is nullptr.
class BoundThread {
 public:
  explicit BoundThread(const MemoryNode* node);
  ~BoundThread();
  BoundThread(const BoundThread&) = delete;
  BoundThread& operator=(const BoundThread&) = delete;

 private:
  bool bound_ = false;
  cpu_set_t before_;  // set where bound
};

}  // namespace gpubench
