// Completion scripts for shells, generated from the grammar so that they are always up to date.
#pragma once
#include <string>

namespace gpubench {

class Grammar;

/// `shell`: "bash", "zsh" or "fish".
std::string completion_script(const std::string& shell, const Grammar& grammar);

}  // namespace gpubench
