// What kernels executed, counted instruction by instruction. At the program's end a table of it is written to the file
// that CUDA_ON_CPU_PTX_COUNTS names: a line for each kernel of the PTX, those that were never launched too.
#pragma once
#include <iosfwd>
#include <memory>
#include <vector>
#include <vector_types.h>

#include "tests/support/ptx/module.h"

namespace gpubench::ptx {

void note_launch(const Function& kernel, const dim3& blocks, const dim3& threads);

/// Launches, threads, then executed by all threads together: instructions, loads and stores of global memory with their
/// bytes, divisions of integers; the kernel.
void write_counts(std::ostream& out, const std::vector<std::unique_ptr<Module>>& modules);

/// The modules live until the program's end.
void count_at_end(const std::vector<std::unique_ptr<Module>>& modules);

}  // namespace gpubench::ptx
