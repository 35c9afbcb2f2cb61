// The location of runs: `<out>/results/<experiment>/<UTC time>-<host>[-n]`.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

namespace gpubench {

/// The status in run.json until the run ends; it remains there if the program dies.
inline constexpr std::string_view unfinished_status = "running";
/// What such a run is called by readers once its process is gone, and what `gpubench finish` writes.
inline constexpr std::string_view died_status = "died";

std::filesystem::path results_root(const std::filesystem::path& out);
std::filesystem::path plots_root(const std::filesystem::path& out);

/// The folders of a run, `<out>/results/<experiment>/<name>`.
struct RunPlace {
  std::filesystem::path out, experiment, name;
};
/// As `directory` names them, if it has them all. Throws Error, beginning with `command`, for another folder.
RunPlace place_of_run(const std::filesystem::path& directory, std::string_view command);

/// Throws Error, beginning with `command`, if a part of `<out>/<below>` that follows `out` is a link: what is written
/// there would land elsewhere. `out` itself may be one, because the user chose it.
void refuse_links(const std::filesystem::path& out, const std::filesystem::path& below, std::string_view command);

/// "2026-11-21T04:17:00Z".
std::string utc_text(std::chrono::system_clock::time_point time);

/// This machine's name, in characters allowed in file names.
std::string host_name();

/// Creates a new directory for a run. Throws Error for a name that is no valid directory name, and if a directory
/// cannot be created.
std::filesystem::path make_run_directory(const std::filesystem::path& out, std::string_view experiment,
                                         std::chrono::system_clock::time_point time);

}  // namespace gpubench
