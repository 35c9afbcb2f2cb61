// Completion scripts for shells, written from the grammar so that they never lag behind it.
#pragma once
#include <string>

namespace gpubench {

class Grammar;

/// `shell`: "bash" or "zsh".
std::string completion_script(const std::string& shell, const Grammar& grammar);

}  // namespace gpubench
