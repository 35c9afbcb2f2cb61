// A declared variable or parameter: ".shared .align 4 .b8 storage[44]", ".param .u64 .ptr .align 1 name".
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "tests/support/ptx/tokens.h"

namespace gpubench::ptx {

struct Declaration {
  std::string name;
  std::size_t align = 1, bytes = 0;
};

/// Reads what follows the space (".shared"). Throws Error for a type that there is not.
Declaration take_declaration(Tokens& tokens);

/// Bytes of a value of the type (".u16"); 0 for what is no type.
std::size_t bytes_of_type(std::string_view type);

/// The place of the declared variable behind `bytes` others, which then include it.
std::size_t place_behind(std::size_t& bytes, const Declaration& declared);

std::size_t take_number(Tokens& tokens);

}  // namespace gpubench::ptx
