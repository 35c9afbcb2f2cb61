#include "tests/support/cuda_on_cpu/access.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/support/cuda_on_cpu/block.h"
#include "tests/support/cuda_on_cpu/function_name.h"
#include "tests/support/cuda_on_cpu/gpu_memory.h"
#include "tests/support/cuda_on_cpu/queue.h"
#include "tests/support/cuda_on_cpu/races.h"
#include "tests/support/cuda_on_cpu/written.h"

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): the linker's names
extern "C" const char __executable_start[], _end[];
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)

namespace gpubench::cuda_on_cpu {
namespace {

struct NamedCheck {
  std::string_view name;
  bool Checks::*flag;
};
constexpr std::array named_checks{NamedCheck{"memory", &Checks::memory},
                                  NamedCheck{"initialized", &Checks::initialized}, NamedCheck{"races", &Checks::races}};

Checks from_environment() {
  const char* const names = std::getenv("CUDA_ON_CPU_CHECK");
  if (names == nullptr) return {};
  try {
    if (!can_check())
      throw std::invalid_argument(
          "this program does not watch its kernels; programs linked with cuda_on_cpu_watched do");
    return checks_named(names);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "CUDA_ON_CPU_CHECK: %s\n", error.what());
    std::exit(2);
  }
}

thread_local bool watching = false;

bool lies_within(const void* at, const void* begin, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(begin) < bytes;
}

/// Static variables, which are what a kernel has as shared memory and constants.
bool is_static(const void* at) {
  return lies_within(at, __executable_start, static_cast<std::size_t>(_end - __executable_start));
}

/// Why the work that runs may not touch the memory; empty if it may.
std::string memory_fault(const void* at, std::size_t bytes) {
  if (gpu_that_has(at) >= 0) return gpu_memory_fault(at, bytes, working_gpu());
  const Call* const kernel = running_kernel();
  if (kernel == nullptr) return {};  // what a library does on the host
  const bool may = is_on_stack(at) || is_static(at) || lies_within(at, kernel->arguments, kernel->argument_bytes) ||
                   is_page_locked(at, bytes);
  return may ? "" : "memory of the host that is not page-locked";
}

enum class Access { store, load, load_of_words, load_of_values };

/// The first byte of a load that nothing has written and that is no padding: the compiler loads whole structs, in which
/// four bytes of eight may be nothing.
const std::byte* unwritten(const void* from, std::size_t bytes, Access access, bool shared) {
  const auto* at = static_cast<const std::byte*>(from);
  const std::byte* const end = at + bytes;
  const auto first = [&](const std::byte* begin, std::size_t count) {
    return shared ? first_unwritten_of_block(begin, count) : first_unwritten(begin, count);
  };
  while (at < end) {
    at = first(at, static_cast<std::size_t>(end - at));
    if (at == nullptr || access == Access::load_of_values) return at;
    constexpr std::size_t half = 4;
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    const std::byte* const pair = at - address % (2 * half);
    const std::byte* const other = address % (2 * half) < half ? pair + half : pair;
    // A load of eight bytes is one of a value, where nobody says that it is not.
    const bool has_padding = bytes > 2 * half || access == Access::load_of_words;
    const bool may_be_padding = has_padding && address % half == 0 && pair >= from && pair + 2 * half <= end;
    if (!may_be_padding || first(other, half) != nullptr) return at;
    at += half;
  }
  return nullptr;
}

std::string shared_memory_fault(const void* at, std::size_t bytes, Access access) {
  if (checks().initialized && access != Access::store && unwritten(at, bytes, access, true) != nullptr) {
    return "shared memory that the block has not written";
  }
  const std::string race = race_of(at, bytes, access == Access::store, running_thread());
  return checks().races ? race : std::string();
}

std::string global_memory_race(const void* at, std::size_t bytes, Access access) {
  if (!checks().races || running_kernel() == nullptr || gpu_that_has(at) < 0) return {};
  return race_of(at, bytes, access == Access::store, running_thread());
}

std::string fault_of(const void* at, std::size_t bytes, Access access) {
  if (running_kernel() != nullptr && is_shared_memory(at)) return shared_memory_fault(at, bytes, access);
  if (checks().memory) {
    if (std::string why = memory_fault(at, bytes); !why.empty()) return why;
  }
  if (std::string race = global_memory_race(at, bytes, access); !race.empty()) return race;
  if (!checks().initialized) return {};
  if (access == Access::store) {
    note_written(at, bytes);
    return {};
  }
  const std::byte* const first = unwritten(at, bytes, access, false);
  return first == nullptr ? std::string() : unwritten_memory(first);
}

void look(const void* at, std::size_t bytes, Access access) {
  const Watching nothing(false);  // the functions called here may be instrumented copies
  const std::string why = fault_of(at, bytes, access);
  if (why.empty()) return;
  std::array<char, 64> what{};
  const char* const verb = access == Access::store ? "writes" : "reads";
  std::snprintf(what.data(), what.size(), "%s %zu bytes at %p: ", verb, bytes, at);
  fail_work(what.data() + why);
}

}  // namespace

Checks checks_named(std::string_view names) {
  Checks chosen;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    bool known = false;
    std::string all;
    for (const NamedCheck& check : named_checks) {
      if (check.name == name) chosen.*check.flag = known = true;
      all.append(all.empty() ? "" : ", ").append(check.name);
    }
    if (!known) throw std::invalid_argument("there is no check '" + std::string(name) + "', only: " + all);
  }
  return chosen;
}

Checks& checks() {
  static Checks chosen = from_environment();
  return chosen;
}

bool can_check() {
#ifdef CUDA_ON_CPU_WATCHED
  return true;
#else
  return false;
#endif
}

Watching::Watching(bool on) : before_(std::exchange(watching, on)) {}
Watching::~Watching() {
  watching = before_;
}

void check_load(const void* from, std::size_t bytes) {
  if (watching) look(from, bytes, Access::load_of_values);
}
void check_load_of_words(const void* from, std::size_t bytes) {
  if (watching) look(from, bytes, Access::load_of_words);
}
void check_store(const void* to, std::size_t bytes) {
  if (watching) look(to, bytes, Access::store);
}

void check_pointer(const void* kernel, const void* pointer) {
  if (!checks().memory || !is_static(pointer)) return;
  std::fprintf(stderr, "CUDA on the CPU: kernel %s is given the address %p of a static variable of the host\n",
               function_name(kernel).c_str(), pointer);
  std::abort();
}

namespace {

void load(const void* from, std::size_t bytes) {
  if (watching) look(from, bytes, Access::load);
}

void check_plain_alignment(const void* at, std::size_t bytes) {
  if (!watching || !checks().memory) return;
  const Watching nothing(false);
  check_alignment(at, bytes);
}

}  // namespace

}  // namespace gpubench::cuda_on_cpu

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): the compiler's names
#define GPUBENCH_ACCESSES(bytes)                   \
  void __tsan_read##bytes(void* at) {              \
    gpubench::cuda_on_cpu::load(at, bytes);        \
  }                                                \
  void __tsan_unaligned_read##bytes(void* at) {    \
    gpubench::cuda_on_cpu::load(at, bytes);        \
  }                                                \
  void __tsan_write##bytes(void* at) {             \
    gpubench::cuda_on_cpu::check_store(at, bytes); \
  }                                                \
  void __tsan_unaligned_write##bytes(void* at) {   \
    gpubench::cuda_on_cpu::check_store(at, bytes); \
  }

extern "C" {
GPUBENCH_ACCESSES(1)
GPUBENCH_ACCESSES(2)
GPUBENCH_ACCESSES(4)
GPUBENCH_ACCESSES(8)
GPUBENCH_ACCESSES(16)
void __tsan_read_range(void* at, std::size_t bytes) {
  gpubench::cuda_on_cpu::load(at, bytes);
}
void __tsan_write_range(void* at, std::size_t bytes) {
  gpubench::cuda_on_cpu::check_store(at, bytes);
}
// Called where an address is not aligned for its type.
struct TypeMismatch {
  const char* file;
  unsigned line, column;
  const void* type;
  unsigned char log2_alignment, kind;
};
void __ubsan_handle_type_mismatch_v1(const TypeMismatch* mismatch, const void* at) {
  gpubench::cuda_on_cpu::check_plain_alignment(at, std::size_t{1} << mismatch->log2_alignment);
}
void __tsan_init() {}
void __tsan_vptr_update(void*, void*) {}

// Of libraries on the host; kernels have none.
unsigned char __tsan_atomic8_load(const volatile void* at, int) {
  return __atomic_load_n(static_cast<const volatile unsigned char*>(at), __ATOMIC_SEQ_CST);
}
unsigned __tsan_atomic32_fetch_add(volatile void* at, unsigned value, int) {
  return __atomic_fetch_add(static_cast<volatile unsigned*>(at), value, __ATOMIC_SEQ_CST);
}
unsigned long __tsan_atomic64_load(const volatile void* at, int) {
  return __atomic_load_n(static_cast<const volatile unsigned long*>(at), __ATOMIC_SEQ_CST);
}
unsigned long __tsan_atomic64_fetch_add(volatile void* at, unsigned long value, int) {
  return __atomic_fetch_add(static_cast<volatile unsigned long*>(at), value, __ATOMIC_SEQ_CST);
}
unsigned long __tsan_atomic64_fetch_or(volatile void* at, unsigned long value, int) {
  return __atomic_fetch_or(static_cast<volatile unsigned long*>(at), value, __ATOMIC_SEQ_CST);
}
}
#undef GPUBENCH_ACCESSES
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
