#include "tests/support/allocations.h"

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

void count(const void* caller) {
  if (counting.load(std::memory_order_relaxed) && !is_vendor(caller)) ++allocations;
}

void* memory_or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
  count(__builtin_return_address(0));
  return memory_or_throw(std::malloc(bytes == 0 ? 1 : bytes));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  count(__builtin_return_address(0));
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  count(__builtin_return_address(0));
  const auto to = static_cast<std::size_t>(alignment);
  return memory_or_throw(std::aligned_alloc(to, (bytes + to) / to * to));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace gpubench::support {

void start_counting() {
  allocations = 0;
  counting = true;
}

long stop_counting() {
  counting = false;
  return allocations.load();
}

}  // namespace gpubench::support
