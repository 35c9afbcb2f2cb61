// Binds threads to processors. A thread inherits the binding of the thread that starts it, so threads are bound only
// while they work for one NUMA node.
#pragma once
#include <sched.h>
#include <span>
#include <vector>

#include "core/device/memory_nodes.h"

namespace gpubench {

/// The processors that this process may use, as set by its launcher or taskset; empty if the system does not report
/// them. Read at the first call, which must come before any thread is bound.
const std::vector<int>& process_processors();

/// Restricts the calling thread to these processors. Throws Error with the system's reason.
void bind_thread(std::span<const int> processors);

/// While it lives, its thread runs on the processors of `node`; nullptr changes nothing. May be nested. Costs two
/// system calls, or none if the thread is already bound to the node or `node` is nullptr.
class BoundThread {
 public:
  explicit BoundThread(const MemoryNode* node);
  ~BoundThread();
  BoundThread(const BoundThread&) = delete;
  BoundThread& operator=(const BoundThread&) = delete;

 private:
  bool bound_ = false;
  cpu_set_t before_;  // set if bound
};

}  // namespace gpubench
