#include "core/results/run_files.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"
#include "core/codec/tar.h"
#include "core/results/append_file.h"

namespace gpubench {
namespace {

constexpr std::string_view table = "results.csv";
/// What is read of an archive.
constexpr std::array<std::string_view, 3> read_files{table, "run.json", "script.lua"};

// An archive may hold charts and an index beside the run; its folder is the one with results.csv.
std::map<std::string, std::string, std::less<>> run_in(const std::filesystem::path& archive) {
  std::vector<ArchiveEntry> entries = read_archive(archive, [](const std::string& name) {
    return std::ranges::find(read_files, std::filesystem::path(name).filename().string()) != read_files.end();
  });
  std::string folder;
  int runs = 0;
  for (const ArchiveEntry& entry : entries) {
    const std::filesystem::path path(entry.name);
    if (path.filename() != table) continue;
    folder = path.parent_path().string();
    ++runs;
  }
  if (runs != 1)
    throw Error(fmt::format("{}: {} runs are in the archive; one is expected, as gpubench pack makes it",
                            archive.string(), runs));
  std::map<std::string, std::string, std::less<>> members;
  for (ArchiveEntry& entry : entries) {
    const std::filesystem::path path(entry.name);
    if (path.parent_path() == folder) members.insert_or_assign(path.filename().string(), std::move(entry.bytes));
  }
  return members;
}

}  // namespace

bool is_archive(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  std::error_code none;
  return (name.ends_with(".tar.gz") || name.ends_with(".tgz")) && std::filesystem::is_regular_file(path, none);
}

RunFiles::RunFiles(std::filesystem::path place) : place_(std::move(place)), is_archive_(gpubench::is_archive(place_)) {
  if (is_archive_) members_ = run_in(place_);
}

bool RunFiles::has(std::string_view name) const {
  return is_archive_ ? members_.contains(name) : std::filesystem::exists(place_ / name);
}

std::string RunFiles::read(std::string_view name) const {
  if (!is_archive_) return read_file(place_ / name);
  const auto found = members_.find(name);
  if (found == members_.end()) throw Error(fmt::format("{}: there is no {}", place_.string(), name));
  return found->second;
}

std::string RunFiles::path_of(std::string_view name) const {
  return (place_ / name).string();
}

}  // namespace gpubench
