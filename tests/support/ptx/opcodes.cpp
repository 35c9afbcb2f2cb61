#include "tests/support/ptx/opcodes.h"

namespace gpubench::ptx {

const Opcodes& opcodes() {
  static const Opcodes all = [] {
    Opcodes result;
    add_integer_opcodes(result);
    add_bit_opcodes(result);
    add_float_opcodes(result);
    add_compare_opcodes(result);
    add_convert_opcodes(result);
    add_memory_opcodes(result);
    add_control_opcodes(result);
    return result;
  }();
  return all;
}

void execute(Thread& thread) {
  while (thread.next != nullptr) {
    const Instruction& at = *thread.next++;
    if (at.guard != Register{} && (thread.registers[at.guard] != 0) != at.guard_value) continue;
    ++at.executed;
    at.run(thread, at);
  }
}

}  // namespace gpubench::ptx
