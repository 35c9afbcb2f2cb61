#include "core/results/prune.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <system_error>

#include "core/base/error.h"
#include "core/codec/output_folder.h"
#include "core/results/append_file.h"
#include "core/results/run_directory.h"
#include "core/results/run_reader.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

bool is_real_folder(const fs::path& path) {
  std::error_code none;
  return fs::symlink_status(path, none).type() == fs::file_type::directory;
}

std::vector<fs::path> real_folders_in(const fs::path& parent) {
  std::vector<fs::path> found;
  if (!is_real_folder(parent)) return found;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    if (is_real_folder(entry->path())) found.push_back(entry->path());
  }
  return found;
}

void check_root(const fs::path& root) {
  if (is_real_folder(root)) return;
  std::error_code none;
  const bool is_link = fs::symlink_status(root, none).type() == fs::file_type::symlink;
  throw Error(is_link ? fmt::format("prune: '{}' is a link, and links are not followed: give the folder that it names",
                                    root.string())
                      : fmt::format("prune: there is no folder '{}'", root.string()));
}

/// Whether a process writes the run, or may: one on another machine holds no lock that can be seen here.
bool may_be_written(const fs::path& run, const RunSummary& summary) {
  return lock_of(run / "samples.csv") == Lock::held || summary.status == unfinished_status;
}

bool has_tag(const RunSummary& summary) {
  // A run.json that cannot be read may have one.
  return !summary.info.texts("tags").empty() || summary.info.fields() == nullptr;
}

/// False if another prune has removed it.
bool remove_if_real(const fs::path& folder) {
  if (!is_real_folder(folder)) return false;
  try {
    return remove_folder(folder);
  } catch (const Error& error) {
    throw Error(fmt::format("prune: {}", error.what()));
  }
}

}  // namespace

std::vector<fs::path> runs_to_prune(const fs::path& out, const PruneOptions& options) {
  check_root(results_root(out));
  std::vector<fs::path> found;
  std::string experiment;
  std::size_t newer = 0;
  for (const RunSummary& run : list_runs(out)) {
    if (!is_real_folder(run.directory) || !is_real_folder(run.directory.parent_path())) continue;
    if (run.experiment != experiment) newer = 0;
    experiment = run.experiment;
    if (++newer <= options.keep || may_be_written(run.directory, run)) continue;
    if (!options.keep_tagged || !has_tag(run)) found.push_back(run.directory);
  }
  return found;
}

bool remove_run(const fs::path& out, const fs::path& run) {
  const fs::path charts_of_experiment = plots_root(out) / run.parent_path().filename();
  // The run comes last: until then `gpubench show` and another prune find it.
  if (is_real_folder(plots_root(out)) && is_real_folder(charts_of_experiment)) {
    remove_if_real(charts_of_experiment / run.filename());
    std::error_code not_empty;
    fs::remove(charts_of_experiment, not_empty);
  }
  const bool removed = remove_if_real(run);
  std::error_code not_empty;
  fs::remove(run.parent_path(), not_empty);
  return removed;
}

void remove_left_overs_of_runs(const fs::path& out) {
  for (const fs::path& root : {results_root(out), plots_root(out)}) {
    if (is_real_folder(root)) remove_left_overs(root);
    for (const fs::path& experiment : real_folders_in(root)) {
      remove_left_overs(experiment);
      // Another machine's locks cannot be seen here.
      for (const fs::path& run : real_folders_in(experiment)) {
        if (is_of_this_machine(run)) remove_left_overs(run);
      }
    }
  }
}

}  // namespace gpubench
