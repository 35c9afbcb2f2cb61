#include "core/results/run_directory.h"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/host_name.h"

namespace gpubench {
namespace {

constexpr std::size_t longest_name = 100;

bool is_file_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

void check_experiment_name(std::string_view name) {
  if (!name.empty() && name.size() <= longest_name && name.front() != '.' && name.front() != '-' &&
      std::ranges::all_of(name, is_file_character)) {
    return;
  }
  throw Error(
      fmt::format("experiment: the name '{}' cannot name a directory: use letters, digits, '_', '-' and '.', "
                  "not '.' or '-' first, at most {} characters",
                  name, longest_name));
}

std::tm utc_parts(std::chrono::system_clock::time_point time) {
  return fmt::gmtime(std::chrono::system_clock::to_time_t(time));
}

}  // namespace

std::filesystem::path results_root(const std::filesystem::path& out) {
  return out / "results";
}
std::filesystem::path plots_root(const std::filesystem::path& out) {
  return out / "plots";
}

RunPlace place_of_run(const std::filesystem::path& directory, std::string_view command) {
  for (std::filesystem::path path : {directory, std::filesystem::absolute(directory)}) {
    path = (path / ".").lexically_normal().parent_path();
    const std::filesystem::path results = path.parent_path().parent_path();
    if (results.filename() != "results") continue;
    const std::filesystem::path out = results.parent_path();
    return {out.empty() ? "." : out, path.parent_path().filename(), path.filename()};
  }
  throw Error(fmt::format("{}: '{}' is not in the folders of a run, results/EXPERIMENT/RUN: put it back there", command,
                          directory.string()));
}

void refuse_links(const std::filesystem::path& out, const std::filesystem::path& below, std::string_view command) {
  std::filesystem::path path = out;
  std::error_code none;
  for (const std::filesystem::path& part : below) {
    path /= part;
    if (std::filesystem::symlink_status(path, none).type() != std::filesystem::file_type::symlink) continue;
    throw Error(
        fmt::format("{}: '{}' is a link, and links in an output folder are not followed: put the folder itself "
                    "there, or choose another place with --out",
                    command, path.string()));
  }
}

std::string utc_text(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc_parts(time));
}

std::string host_name() {
  std::string host = own_host_name();
  std::ranges::replace_if(
      host, [](char c) { return !is_file_character(c); }, '_');
  return host;
}

std::filesystem::path make_run_directory(const std::filesystem::path& out, std::string_view experiment,
                                         std::chrono::system_clock::time_point time) {
  check_experiment_name(experiment);
  for (const char* root : {"results", "plots"}) refuse_links(out, std::filesystem::path(root) / experiment, "results");
  const std::filesystem::path parent = results_root(out) / experiment;
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  if (error) {
    throw Error(fmt::format("results: cannot make the directory '{}': {}; choose another place with --out",
                            parent.string(), error.message()));
  }
  const std::string name = fmt::format("{:%Y%m%dT%H%M%SZ}-{}", utc_parts(time), host_name());
  for (int n = 1;; ++n) {
    std::filesystem::path directory = parent / (n == 1 ? name : fmt::format("{}-{}", name, n));
    // True only for the process that made it, so two runs of one second get two directories.
    if (std::filesystem::create_directory(directory, error)) return directory;
    // `gpubench prune` removes folders of experiments that have no run.
    if (error == std::errc::no_such_file_or_directory) std::filesystem::create_directories(parent, error);
    if (error) {
      throw Error(fmt::format("results: cannot make the directory '{}': {}; choose another place with --out",
                              directory.string(), error.message()));
    }
  }
}

}  // namespace gpubench
