// Where runs live: `<out>/results/<experiment>/<UTC time>-<host>[-n]`.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

namespace gpubench {

/// The status in run.json until the run ends. It stays where the program died.
inline constexpr std::string_view unfinished_status = "running";
/// What such a run is called by readers once its process is gone, and what `gpubench finish` writes.
inline constexpr std::string_view died_status = "died";

std::filesystem::path results_root(const std::filesystem::path& out);
std::filesystem::path plots_root(const std::filesystem::path& out);

/// "2026-11-21T04:17:00Z".
std::string utc_text(std::chrono::system_clock::time_point time);

/// This machine's name, in characters that suit a file name.
std::string host_name();

/// Makes a new directory that no other run has. Throws Error for a name that cannot be a directory's, and when a
/// directory cannot be made.
std::filesystem::path make_run_directory(const std::filesystem::path& out, std::string_view experiment,
                                         std::chrono::system_clock::time_point time);

}  // namespace gpubench
