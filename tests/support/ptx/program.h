// A kernel of PTX as the interpreter executes it. All operands are registers: constants, addresses of variables and
// CUDA's special registers are registers too, which have their values before the first instruction runs.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpubench::ptx {

/// The place of a register in a thread's file of 64-bit registers.
using Register = std::uint16_t;

/// Special registers come first in each file. `sink` takes results that nobody reads.
enum class Special : Register {
  sink,
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  count
};

struct Thread;
struct Instruction;
using Handler = void (*)(Thread&, const Instruction&);

struct Instruction {
  Handler run = nullptr;
  /// How often threads came to it with a guard that holds.
  mutable std::uint64_t executed = 0;
  std::int64_t number = 0;  ///< what is added to an address, or the place of a jump, or of a call in Function::calls
  std::string_view text;    ///< as it stands in the file
  std::array<Register, 5> from{};
  std::array<Register, 4> to{};
  Register guard = 0;  ///< the predicate before it; 0: none
  bool guard_value = true;
  std::uint8_t variant = 0;  ///< what opcodes of one handler differ in
  std::uint8_t lanes = 1;    ///< values that a load or a store moves
  std::uint8_t bytes = 0;    ///< that it moves; 0: it is neither
};

/// A register that has its value before the first instruction.
struct Constant {
  Register to = 0;
  std::uint64_t value = 0;
};

/// A parameter, by its place in the parameter space.
struct Parameter {
  std::string name;
  std::size_t offset = 0, bytes = 0;
};

/// A call of a .func: what is copied from the caller's parameter space, and what back to it.
struct FunctionCall {
  std::string callee;
  std::vector<Parameter> results, arguments;
};

/// An .entry (a kernel) or a .func.
struct Function {
  std::string name;  ///< mangled
  std::vector<Instruction> code;
  std::vector<Constant> constants;
  std::size_t registers = 0;  ///< with special ones and constants
  std::vector<Parameter> results, parameters;
  std::vector<FunctionCall> calls;
  std::size_t parameter_bytes = 0;  ///< with those that it passes on
  std::size_t shared_bytes = 0, local_bytes = 0;
  unsigned most_threads = 1024;  ///< of a block
};

}  // namespace gpubench::ptx
