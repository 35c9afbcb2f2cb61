// Room for generated code. oneDNN writes kernels into memory that it maps when they are planned or run first, also in
// its worker threads, and does not check whether it got any: without room it ends the program.
#pragma once

namespace gpubench::cpu {

/// Throws OutOfMemory if the process's limit of address space (ulimit -v) leaves too little. Costs one system call
/// where there is no limit.
void require_address_space();

}  // namespace gpubench::cpu
