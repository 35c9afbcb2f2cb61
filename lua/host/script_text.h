// A script's text, read once and to its end: it may come through a pipe.
#pragma once
#include <string>

namespace gpubench {

/// Without a first line that starts with '#', and without a byte order mark, as Lua itself reads a file. Throws Error
/// "run: ..." for a file that is not there or no script: a folder, or one that is too large.
std::string read_script(const std::string& path);

}  // namespace gpubench
