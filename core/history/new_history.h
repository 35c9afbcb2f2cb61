// The first moment of a history: it is made as a whole, so that no program finds a part of one.
#pragma once
#include <filesystem>

namespace gpubench {

/// Makes a history without runs if there is no file. Also in place of an empty file, which older programs that were
/// killed have left, unless something beside it says that a history was there. Throws HistoryUnavailable if it cannot
/// be made. Other programs may do the same at once: all use the first one.
void make_history_once(const std::filesystem::path& file);

}  // namespace gpubench
