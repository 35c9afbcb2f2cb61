// A thread that executes PTX, and how handlers of instructions reach its registers and memory.
#pragma once
#include <bit>
#include <cstring>
#include <span>
#include <type_traits>

#include "core/math/half.h"
#include "tests/support/ptx/program.h"

namespace gpubench::ptx {

class Module;

struct Thread {
  const Function& function;
  const Module& module;
  std::uint64_t* registers;
  std::byte* parameters;
  std::byte* local;          ///< Function::local_bytes of it
  std::size_t shared_bytes;  ///< static and dynamic ones of the block
  const Instruction* next;   ///< nullptr: it has ended
  bool carry = false;        ///< out of the last addition of several words, or the borrow of a subtraction
};

/// Executes instructions until the function returns.
void execute(Thread& thread);

/// Ends the test: names the kernel, the thread, the instruction and what is wrong.
[[noreturn]] void fail(const Instruction& at, const std::string& why);

/// Where a generic address of shared memory begins.
std::byte* shared_memory();

template <class T>
T get(const Thread& thread, Register from) {
  const std::uint64_t bits = thread.registers[from];
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else if constexpr (std::is_same_v<T, bool>) {
    return bits != 0;
  } else if constexpr (std::is_same_v<T, math::Float16> || std::is_same_v<T, math::Bfloat16>) {
    return {static_cast<std::uint16_t>(bits)};
  } else {
    return static_cast<T>(bits);
  }
}

/// Signed values fill the register's upper bits with their sign, so that a wider register may hold them.
template <class T>
void set(Thread& thread, Register to, T value) {
  std::uint64_t& bits = thread.registers[to];
  if constexpr (std::is_same_v<T, float>) {
    bits = std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    bits = std::bit_cast<std::uint64_t>(value);
  } else if constexpr (std::is_same_v<T, math::Float16> || std::is_same_v<T, math::Bfloat16>) {
    bits = value.bits;
  } else {
    bits = static_cast<std::uint64_t>(value);
  }
}

}  // namespace gpubench::ptx
