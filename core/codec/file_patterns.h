// Expands file names from scripts: paths or shell patterns (*, ?, [a-z]).
#pragma once
#include <span>
#include <string>
#include <vector>

namespace gpubench {

/// The files in the order of `patterns`; the files of one pattern are sorted bytewise, independent of the locale. A
/// name that exists is that file, even if it looks like a pattern. Folders never match. Throws Error naming `operation`
/// when there are no patterns, when one matches nothing, and for `**`, which gpubench does not expand.
std::vector<std::string> expand_patterns(std::span<const std::string> patterns, std::string_view operation);

}  // namespace gpubench
