// What each opcode does: a table from its text ("add.s32") to the function that executes it. The table holds what nvcc
// writes for our kernels; an opcode that is not in it is an error that names it. Approximations of GPUs (ex2.approx and
// the like) are computed exactly and rounded once, so results differ from a GPU's in their last bits.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/math/half.h"
#include "tests/support/ptx/program.h"
#include "tests/support/ptx/thread.h"

namespace gpubench::ptx {

struct Meaning {
  Handler run = nullptr;
  std::uint8_t variant = 0;
  std::uint8_t lanes = 1, bytes = 0;  ///< as in Instruction
};

class Opcodes {
 public:
  void add(std::string opcode, Meaning meaning) { all_.emplace(std::move(opcode), meaning); }
  /// nullptr for one that there is not.
  const Meaning* find(const std::string& opcode) const {
    const auto found = all_.find(opcode);
    return found == all_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<std::string, Meaning> all_;
};

/// All opcodes. One that moves a vector to or from a register as a whole ends in " to vector" or " from vector".
const Opcodes& opcodes();

void add_integer_opcodes(Opcodes& all);
void add_bit_opcodes(Opcodes& all);
void add_float_opcodes(Opcodes& all);
void add_compare_opcodes(Opcodes& all);
void add_convert_opcodes(Opcodes& all);
void add_memory_opcodes(Opcodes& all);
void add_control_opcodes(Opcodes& all);

/// PTX's types: the name, and what a value of it is in C++.
#define GPUBENCH_PTX_TYPE(Tag, text, type)        \
  struct Tag {                                    \
    using Value = type;                           \
    static constexpr std::string_view name{text}; \
  };
GPUBENCH_PTX_TYPE(U8, "u8", std::uint8_t)
GPUBENCH_PTX_TYPE(U16, "u16", std::uint16_t)
GPUBENCH_PTX_TYPE(U32, "u32", std::uint32_t)
GPUBENCH_PTX_TYPE(U64, "u64", std::uint64_t)
GPUBENCH_PTX_TYPE(S8, "s8", std::int8_t)
GPUBENCH_PTX_TYPE(S16, "s16", std::int16_t)
GPUBENCH_PTX_TYPE(S32, "s32", std::int32_t)
GPUBENCH_PTX_TYPE(S64, "s64", std::int64_t)
GPUBENCH_PTX_TYPE(B8, "b8", std::uint8_t)
GPUBENCH_PTX_TYPE(B16, "b16", std::uint16_t)
GPUBENCH_PTX_TYPE(B32, "b32", std::uint32_t)
GPUBENCH_PTX_TYPE(B64, "b64", std::uint64_t)
GPUBENCH_PTX_TYPE(F16, "f16", math::Float16)
GPUBENCH_PTX_TYPE(Bf16, "bf16", math::Bfloat16)
GPUBENCH_PTX_TYPE(F32, "f32", float)
GPUBENCH_PTX_TYPE(F64, "f64", double)
GPUBENCH_PTX_TYPE(Predicate, "pred", bool)
#undef GPUBENCH_PTX_TYPE

inline std::string with_type(std::string_view name, std::string_view type) {
  return std::string(name).append(".").append(type);
}

/// `Function` of operands of type T, to a result of the type that it returns.
template <class T, class Function>
void run_unary(Thread& thread, const Instruction& at) {
  set(thread, at.to[0], Function{}(get<T>(thread, at.from[0])));
}
template <class T, class Function>
void run_binary(Thread& thread, const Instruction& at) {
  set(thread, at.to[0], Function{}(get<T>(thread, at.from[0]), get<T>(thread, at.from[1])));
}
template <class T, class Function>
void run_ternary(Thread& thread, const Instruction& at) {
  set(thread, at.to[0], Function{}(get<T>(thread, at.from[0]), get<T>(thread, at.from[1]), get<T>(thread, at.from[2])));
}

template <class Function, class... Types>
void add_unary(Opcodes& all, std::string_view name) {
  (all.add(with_type(name, Types::name), {&run_unary<typename Types::Value, Function>}), ...);
}
template <class Function, class... Types>
void add_binary(Opcodes& all, std::string_view name) {
  (all.add(with_type(name, Types::name), {&run_binary<typename Types::Value, Function>}), ...);
}
template <class Function, class... Types>
void add_ternary(Opcodes& all, std::string_view name) {
  (all.add(with_type(name, Types::name), {&run_ternary<typename Types::Value, Function>}), ...);
}

}  // namespace gpubench::ptx
