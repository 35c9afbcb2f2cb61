// The end of a script that nothing can stop: its runs are finished from their files, and the process is gone.
#pragma once

namespace gpubench::lua {
class Session;
}

namespace gpubench {

/// 128 + the signal that asked to stop.
int interrupted_status() noexcept;
/// "interrupted", or "interrupted by SIGTERM".
const char* interruption_text() noexcept;

/// Writes the row of the point that is measured where its time is up ("timeout"), finishes the files of all runs, tells
/// the user and ends the process: with interrupted_status(), or with 2. Run by the watchdog's thread, while the
/// script's thread is in the script.
[[noreturn]] void end_by_force(lua::Session& session);

}  // namespace gpubench
