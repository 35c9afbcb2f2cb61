// Loads and stores. Each is looked at: shared, local and parameter memory here, the memory of GPUs and races within
// shared memory by the checks of cuda_on_cpu (CUDA_ON_CPU_CHECK).
#include <cstring>
#include <string>

#include "tests/support/cuda_on_cpu/access.h"
#include "tests/support/cuda_on_cpu/block.h"
#include "tests/support/ptx/module.h"
#include "tests/support/ptx/opcodes.h"

namespace gpubench::ptx {
namespace {

enum class Space : std::uint8_t { generic, global, shared, local, parameter, constant };

struct Range {
  std::byte* begin;
  std::size_t bytes;
  bool holds(const std::byte* at, std::size_t count) const {
    const auto offset = static_cast<std::size_t>(at - begin);
    return at >= begin && offset <= bytes && bytes - offset >= count;
  }
  bool begins_before(const std::byte* at) const { return at >= begin && at < begin + bytes; }
};

constexpr std::size_t shared_window = std::size_t{227} << 10;  // what a generic address of shared memory can name

/// Ends the test where the bytes are not all in the range.
void check_within(const Instruction& at, const Range& range, const std::byte* place, const char* what) {
  const std::size_t bytes = at.bytes;
  if (range.holds(place, bytes)) return;
  fail(at, std::to_string(bytes) + " bytes at " + std::to_string(place - range.begin) + " of " +
               std::to_string(range.bytes) + " bytes of " + what);
}

/// Whether it may copy a struct: nvcc does that by integers of 64 bits or pairs of 32 bits, half of which may be
/// padding.
bool copies_words(const Instruction& at) {
  constexpr unsigned word = sizeof(std::uint64_t);
  const bool is_word = at.bytes / at.lanes == word || (at.bytes == word && at.lanes == 2);
  return is_word && at.text.find(".f64") == std::string_view::npos && at.text.find(".f32") == std::string_view::npos;
}

void check(const Instruction& at, const std::byte* place, bool stores) {
  if (stores) {
    cuda_on_cpu::check_store(place, at.bytes);
  } else if (copies_words(at)) {
    cuda_on_cpu::check_load_of_words(place, at.bytes);
  } else {
    cuda_on_cpu::check_load(place, at.bytes);
  }
}

/// The memory that a generic address or one of a GPU's memory names.
std::byte* generic_place(const Thread& thread, const Instruction& at, std::byte* place, bool stores) {
  if (Range{shared_memory(), shared_window}.begins_before(place)) {
    check_within(at, {shared_memory(), thread.shared_bytes}, place, "shared memory");
  } else if (const Range local{thread.local, thread.function.local_bytes}; local.begins_before(place)) {
    check_within(at, local, place, "local memory");
    return place;
  } else if (thread.module.holds(place, at.bytes)) {
    if (stores) fail(at, "a store to a constant");
    return place;
  }
  check(at, place, stores);
  return place;
}

template <Space space>
std::byte* place_of(const Thread& thread, const Instruction& at, bool stores) {
  const auto address =
      static_cast<std::uintptr_t>(thread.registers[at.from[0]] + static_cast<std::uint64_t>(at.number));
  if (address % at.bytes != 0) {
    fail(at, "misaligned address " + std::to_string(address) + " of " + std::to_string(at.bytes) + " bytes");
  }
  if constexpr (space == Space::shared) {
    std::byte* const place = shared_memory() + static_cast<std::uint32_t>(address);
    check_within(at, {shared_memory(), thread.shared_bytes}, place, "shared memory");
    check(at, place, stores);
    return place;
  } else if constexpr (space == Space::local) {
    std::byte* const place = thread.local + static_cast<std::uint32_t>(address);
    check_within(at, {thread.local, thread.function.local_bytes}, place, "local memory");
    return place;
  } else if constexpr (space == Space::parameter) {
    std::byte* const place = thread.parameters + static_cast<std::uint32_t>(address);
    check_within(at, {thread.parameters, thread.function.parameter_bytes}, place, "parameters");
    return place;
  } else {
    return generic_place(thread, at, reinterpret_cast<std::byte*>(address), stores);
  }
}

template <class T, Space space>
void load(Thread& thread, const Instruction& at) {
  const std::byte* const from = place_of<space>(thread, at, false);
  for (unsigned lane = 0; lane < at.lanes; ++lane) {
    T value;
    std::memcpy(&value, from + lane * sizeof(T), sizeof(T));
    set(thread, at.to[lane], value);
  }
}
template <class T, Space space>
void store(Thread& thread, const Instruction& at) {
  std::byte* const to = place_of<space>(thread, at, true);
  for (unsigned lane = 0; lane < at.lanes; ++lane) {
    const T value = get<T>(thread, at.from[1 + lane]);
    std::memcpy(to + lane * sizeof(T), &value, sizeof(T));
  }
}

template <Space space, class Type>
void add_accesses(Opcodes& all, const std::string& load_name, const std::string& store_name) {
  using T = typename Type::Value;
  for (const unsigned lanes : {1U, 2U, 4U}) {
    const std::string vector = lanes == 1 ? "" : ".v" + std::to_string(lanes);
    const auto count = static_cast<std::uint8_t>(lanes), bytes = static_cast<std::uint8_t>(lanes * sizeof(T));
    if (bytes > 16) continue;
    all.add(with_type(load_name + vector, Type::name), {&load<T, space>, 0, count, bytes});
    if constexpr (space == Space::constant) continue;
    all.add(with_type(store_name + vector, Type::name), {&store<T, space>, 0, count, bytes});
  }
}
template <Space space>
void add_accesses_of_all_types(Opcodes& all, const std::string& suffix) {
  const auto add = [&]<class... Types>(std::type_identity<Types>...) {
    (add_accesses<space, Types>(all, "ld" + suffix, "st" + suffix), ...);
  };
  add(std::type_identity<B8>{}, std::type_identity<B16>{}, std::type_identity<B32>{}, std::type_identity<B64>{},
      std::type_identity<U8>{}, std::type_identity<U16>{}, std::type_identity<U32>{}, std::type_identity<U64>{},
      std::type_identity<S8>{}, std::type_identity<S16>{}, std::type_identity<S32>{}, std::type_identity<S64>{},
      std::type_identity<F32>{}, std::type_identity<F64>{});
}

/// From an address of the space to a generic one.
void shared_to_generic(Thread& thread, const Instruction& at) {
  set(thread, at.to[0], reinterpret_cast<std::uint64_t>(shared_memory()) + get<std::uint32_t>(thread, at.from[0]));
}
void local_to_generic(Thread& thread, const Instruction& at) {
  set(thread, at.to[0], reinterpret_cast<std::uint64_t>(thread.local) + get<std::uint32_t>(thread, at.from[0]));
}
void generic_to_shared(Thread& thread, const Instruction& at) {
  set(thread, at.to[0], get<std::uint64_t>(thread, at.from[0]) - reinterpret_cast<std::uint64_t>(shared_memory()));
}
void same_address(Thread& thread, const Instruction& at) {
  set(thread, at.to[0], get<std::uint64_t>(thread, at.from[0]));
}

}  // namespace

std::byte* shared_memory() {
  // A static variable, as cuda_on_cpu knows shared memory. Only one block runs at a time.
  alignas(256) static std::array<std::byte, shared_window> memory;
  return memory.data();
}

void add_memory_opcodes(Opcodes& all) {
  add_accesses_of_all_types<Space::generic>(all, "");
  add_accesses_of_all_types<Space::global>(all, ".global");
  add_accesses_of_all_types<Space::global>(all, ".global.nc");
  add_accesses_of_all_types<Space::shared>(all, ".shared");
  add_accesses_of_all_types<Space::shared>(all, ".volatile.shared");
  add_accesses_of_all_types<Space::local>(all, ".local");
  add_accesses_of_all_types<Space::parameter>(all, ".param");
  add_accesses_of_all_types<Space::constant>(all, ".const");
  all.add("cvta.shared.u64", {&shared_to_generic});
  all.add("cvta.local.u64", {&local_to_generic});
  all.add("cvta.to.shared.u64", {&generic_to_shared});
  for (const char* const opcode : {"cvta.global.u64", "cvta.to.global.u64", "cvta.const.u64", "cvta.to.const.u64"}) {
    all.add(opcode, {&same_address});
  }
}

}  // namespace gpubench::ptx
