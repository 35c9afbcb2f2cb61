// Binds threads to processors. A thread inherits the binding of the thread that starts it, so a thread is bound only
// while it works for one memory node.
#pragma once
#include <sched.h>
#include <span>
#include <vector>

#include "core/device/memory_nodes.h"

namespace gpubench {

/// The processors that this process may use, as its launcher or taskset set them; empty where the system does not say.
/// They are read at the first call, which must come before any thread is bound.
const std::vector<int>& process_processors();

/// Lets the calling thread run on these processors only. Throws Error with the system's reason.
void bind_thread(std::span<const int> processors);

/// While the object lives, its thread runs on the processors of `node`; nullptr changes nothing. Scopes may be nested.
/// Costs two system calls, or none where the thread is bound to the node already or `node` is nullptr.
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
