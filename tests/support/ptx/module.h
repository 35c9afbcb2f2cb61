// A file of PTX: its kernels, functions and constants. Bodies are read when they are first asked for.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/ptx/function_parser.h"
#include "tests/support/ptx/program.h"

namespace gpubench::ptx {

/// The name without the parts that two compilations of one source differ in: nvcc gives names of unnamed namespaces
/// two numbers of its own.
std::string plain_name(std::string_view name);

class Module {
 public:
  /// Throws Error for another version of PTX than 9, and for text that is not PTX.
  explicit Module(std::string text);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// By its plain_name(). Throws Error if there is none, or one with an instruction that the interpreter does not know,
  /// also in what it calls.
  const Function& function(std::string_view name) const;
  /// Plain names of what can be launched.
  const std::vector<std::string>& kernels() const { return kernels_; }
  /// Functions that were read.
  const std::map<std::string, std::unique_ptr<Function>, std::less<>>& read() const { return read_; }

  /// Whether the bytes lie within a constant.
  bool holds(const void* at, std::size_t bytes) const;

 private:
  void read_header(Tokens& tokens);
  void read_top_level(Tokens& tokens);
  void read_variable(Tokens& tokens, std::string_view space);
  void read_function_head(Tokens& tokens, bool is_kernel);

  std::string text_;
  std::map<std::string, FunctionHead, std::less<>> heads_;
  std::vector<std::string> kernels_;
  mutable std::map<std::string, std::unique_ptr<Function>, std::less<>> read_;
  Symbols symbols_;
  std::vector<std::vector<std::byte>> constants_;
  std::size_t shared_bytes_ = 0;
};

}  // namespace gpubench::ptx
