#pragma once
#include <string>

namespace gpubench::cuda_on_cpu {

/// Of a function of this program, from its symbol table, which has those that are not exported too. The address in
/// hexadecimal where the program has no symbols.
std::string function_name(const void* function);

}  // namespace gpubench::cuda_on_cpu
