#include "core/exec/replica_threads.h"

#include <utility>

#include "core/base/clock.h"

namespace gpubench {
namespace {

/// About the cost of falling asleep and being woken.
constexpr Seconds awake{30e-6};

/// Blocks until `value` differs from `old`.
void wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  const auto begin = Clock::now();
  while (value.load(std::memory_order_acquire) == old) {
    if (Clock::now() - begin < awake) continue;
    value.wait(old, std::memory_order_acquire);
  }
}

}  // namespace

ReplicaThreads::ReplicaThreads(int replicas) : threads_(replicas - 1, [this](int index) { serve(index + 1); }) {}

ReplicaThreads::~ReplicaThreads() {
  invoke_ = nullptr;
  started_.fetch_add(1, std::memory_order_release);
  started_.notify_all();
}

void ReplicaThreads::run_all(Invoke invoke, const void* call) {
  invoke_ = invoke;
  call_ = call;
  failure_taken_ = false;
  failure_ = nullptr;
  if (threads_.size() > 0) {
    running_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_relaxed);
    started_.fetch_add(1, std::memory_order_release);
    started_.notify_all();
  }
  invoke(call, 0);
  for (std::uint32_t left = running_.load(std::memory_order_acquire); left != 0;
       left = running_.load(std::memory_order_acquire)) {
    wait_for_change(running_, left);
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ReplicaThreads::serve(int replica) {
  for (std::uint32_t seen = 0;;) {
    wait_for_change(started_, seen);
    ++seen;
    if (invoke_ == nullptr) return;
    invoke_(call_, replica);
    running_.fetch_sub(1, std::memory_order_acq_rel);
    running_.notify_one();
  }
}

}  // namespace gpubench
