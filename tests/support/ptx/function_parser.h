// Reads the body of a kernel or a function of PTX into instructions.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tests/support/ptx/declaration.h"
#include "tests/support/ptx/program.h"
#include "tests/support/ptx/tokens.h"

namespace gpubench::ptx {

/// A function whose head was read.
struct FunctionHead {
  std::string name;
  std::vector<Declaration> results, parameters;
  unsigned most_threads = 1024;
  std::size_t body = 0;  ///< where the text behind its opening brace begins
};

/// Names of variables outside of functions, and what they stand for: an address.
using Symbols = std::map<std::string, std::uint64_t, std::less<>>;

/// `shared_bytes`: those of the file's variables, which come first. Throws Error that names an instruction that the
/// interpreter does not know.
Function parse_function(std::string_view text, const FunctionHead& head, const Symbols& symbols,
                        std::size_t shared_bytes);

}  // namespace gpubench::ptx
