// Room for generated code. oneDNN writes kernels into memory that it maps when they are planned or run first, also in
// its worker threads, and does not check whether it got any: without room it ends the program.
#pragma once

namespace gpubench::cpu {

/// Where the address space is limited, lets all threads but the main one share an arena of malloc. Otherwise each of
/// them reserves 64 MiB, and what was left at planning may be gone at the first run.
void limit_arenas();

/// Throws OutOfMemory if the process's limit of address space (ulimit -v) leaves too little. Costs one system call
/// where there is no limit.
void require_address_space();

}  // namespace gpubench::cpu
