// Kernels of hand-written PTX for tests of its interpreter, launched on the simulated GPU 0.
#pragma once
#include <cuda_runtime_api.h>
#include <initializer_list>
#include <string>
#include <string_view>

#include "tests/support/ptx/module.h"

namespace gpubench::ptx {

inline constexpr std::string_view header = ".version 9.0\n.target sm_90\n.address_size 64\n";

/// A kernel `probe` with that body, between a declaration of registers (%p, %rs, %r, %rd, %f, %fd, 16 of each) and
/// `ret`. Its parameters out, a, b and c have 64 bits each. `variables` stand before it.
std::string probe(std::string_view body, std::string_view variables = "");

/// Runs `probe` in one block, and waits for it. Ends the program where CUDA's functions fail.
void launch_probe(const Module& module, unsigned threads, std::initializer_list<std::uint64_t> arguments);
void launch_probe(const std::string& text, unsigned threads, std::initializer_list<std::uint64_t> arguments);

/// Memory of GPU 0, as a parameter.
std::uint64_t device_memory(std::size_t bytes);
/// The same that has been written.
std::uint64_t zeros(std::size_t bytes);

}  // namespace gpubench::ptx
