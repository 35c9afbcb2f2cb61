// How functions for Lua open `<out>/results/history.db`, the file that nights append to.
#pragma once
#include <string>

#include "core/history/history.h"

namespace gpubench::lua {

/// Does not say why the folder cannot be made: writing a file there does.
void make_results_folder(const std::string& out);

/// Opens it for writing, and creates it.
RunHistory new_history(const std::string& out);

/// Opens one that is there; throws Error where there is none. Reading may write too: an older schema is brought up to
/// date.
RunHistory existing_history(const std::string& out);

}  // namespace gpubench::lua
