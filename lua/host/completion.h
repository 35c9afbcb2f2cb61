// Completion scripts for shells, generated from the grammar so that they are always up to date.
#pragma once
#include <string>

namespace gpubench {

class Grammar;

/// `shell`: "bash" or "zsh".
std::string completion_script(const std::string& shell, const Grammar& grammar);

}  // namespace gpubench
