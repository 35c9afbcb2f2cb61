// Finds types of two files that have one name in one namespace. The compiler sees one file at a time, and the linker
// keeps one destructor for both.
#pragma once
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace gpubench::checks {

/// The types that a source defines at namespace scope, but for anonymous namespaces: "gpubench::cpu::Rows".
std::vector<std::string> types_of(std::istream& source);

/// Below core and lua of a repository, as "gpubench::Rows: core/a.h and core/b.h".
std::vector<std::string> types_of_two_files(const std::filesystem::path& root);

}  // namespace gpubench::checks
