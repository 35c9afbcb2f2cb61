// File names that a script gives: paths, or patterns as a shell knows them (*, ?, [a-z]).
#pragma once
#include <span>
#include <string>
#include <vector>

namespace gpubench {

/// The files in the order of `patterns`, those of one pattern sorted by their bytes, whatever the locale. What exists
/// under a name is that file, also when the name could be read as a pattern; folders are no matches. Throws Error
/// naming the operation when there are no patterns, when one of them matches nothing, and for `**`, which a shell may
/// take for folders of any depth.
std::vector<std::string> expand_patterns(std::span<const std::string> patterns, std::string_view operation);

}  // namespace gpubench
