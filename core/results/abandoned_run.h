// What becomes of a run whose process is lost before it can say how the run ended: another one says it.
#pragma once
#include <filesystem>
#include <string>

namespace gpubench {

/// Ends the record of the run in `directory`: its status becomes "error", with `detail` as the reason. False, and
/// nothing is changed, where it has ended already or is not on this machine. Throws Error for a file that cannot be
/// read or written.
bool end_abandoned_run(const std::filesystem::path& directory, const std::string& detail);

}  // namespace gpubench
