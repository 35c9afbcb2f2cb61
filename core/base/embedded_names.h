// The files of core/base/other_names, which CMake compiles into the program.
#pragma once
#include <span>
#include <string_view>

namespace gpubench::embedded {

extern const std::span<const std::string_view> other_names;

}  // namespace gpubench::embedded
