#include "tests/support/failing_threads.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <dlfcn.h>
#include <pthread.h>

namespace {

std::atomic<int> threads_left{INT_MAX};

}  // namespace

/// In place of that of the C library, for all libraries of the program.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_left.fetch_sub(1) <= 0) return EAGAIN;
  return create(thread, attributes, start, argument);
}

namespace gpubench {

FailingThreads::FailingThreads(int allowed) {
  threads_left = allowed;
}

FailingThreads::~FailingThreads() {
  threads_left = INT_MAX;
}

}  // namespace gpubench
