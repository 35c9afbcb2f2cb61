#include "tests/core/train/allocations.h"

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <new>
#include <string_view>

namespace {

std::atomic<bool> counting{false};
std::atomic<long> allocations{0};

bool is_vendor(const void* caller) {
  Dl_info info;
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return false;
  return std::string_view(info.dli_fname).find("libdnnl") != std::string_view::npos;
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (counting.load(std::memory_order_relaxed) && !is_vendor(__builtin_return_address(0))) ++allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  if (counting.load(std::memory_order_relaxed) && !is_vendor(__builtin_return_address(0))) ++allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace gpubench::testing {

void start_counting() {
  allocations = 0;
  counting = true;
}

long stop_counting() {
  counting = false;
  return allocations.load();
}

}  // namespace gpubench::testing
