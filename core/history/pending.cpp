#include "core/history/pending.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <tuple>

#include "core/codec/output_file.h"
#include "core/results/append_file.h"
#include "core/results/run_directory.h"

namespace gpubench {
namespace {

constexpr const char* mark_name = "history.pending";

std::string why(const std::filesystem::path& directory, const std::exception& error) {
  return fmt::format("{}: {}", directory.string(), error.what());
}

bool is_marked_without_reason(const std::filesystem::path& directory) {
  try {
    const AppendFile mark(directory / mark_name);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void mark(const std::filesystem::path& directory, const std::string& reason, Appended& appended) {
  appended.pending.push_back(fmt::format("{}: {}", directory.string(), reason));
  try {
    replace_file(directory / mark_name, reason + "\n");
  } catch (const Error& error) {
    // A full disk still takes an empty file, which is a mark without a reason.
    if (is_marked_without_reason(directory)) return;
    appended.unmarked.push_back(directory.string());
    appended.pending.back() +=
        fmt::format("; nor can the run be marked ({}): append it with 'gpubench history --rebuild'", error.what());
  }
}

void append_one(RunHistory& history, const std::filesystem::path& directory, Appended& appended) {
  ++(history.append(read_run(directory)) ? appended.appended : appended.known);
  std::error_code error;
  std::filesystem::remove(directory / mark_name, error);
}

}  // namespace

void mark_for_night(const std::filesystem::path& directory, const Info& info) {
  if (!night_of(info).empty()) is_marked_without_reason(directory);
}

std::vector<std::filesystem::path> waiting_runs(const std::filesystem::path& out) {
  std::vector<std::filesystem::path> waiting;
  std::error_code error;
  for (const auto& experiment : std::filesystem::directory_iterator(results_root(out), error)) {
    if (!experiment.is_directory(error) || experiment.is_symlink(error)) continue;
    for (const auto& run : std::filesystem::directory_iterator(experiment.path(), error)) {
      if (run.is_symlink(error)) continue;  // what lies elsewhere gets no marks
      if (std::filesystem::exists(run.path() / mark_name, error)) waiting.push_back(run.path());
    }
  }
  // By time; of one second "-9" before "-10".
  std::ranges::sort(waiting, {}, [](const std::filesystem::path& run) {
    const std::string name = run.filename().string();
    return std::tuple(name.substr(0, name.find('-')), name.size(), name);
  });
  return waiting;
}

Appended append_or_wait(const std::filesystem::path& out, const std::vector<std::filesystem::path>& directories,
                        int patience_ms) {
  refuse_links(out, "results", "history");
  Appended appended;
  std::vector<std::filesystem::path> all = waiting_runs(out);
  const auto is_there = [&](const std::filesystem::path& directory) {
    std::error_code error;
    return std::ranges::any_of(all,
                               [&](const auto& one) { return std::filesystem::equivalent(one, directory, error); });
  };
  for (const std::filesystem::path& directory : directories)
    if (!is_there(directory)) all.push_back(directory);

  std::optional<RunHistory> history;
  std::string reason;  // once it cannot be written, nothing after it is tried: the order of runs would be another
  for (const std::filesystem::path& directory : all) {
    try {
      if (reason.empty() && !history) history.emplace(history_file(out), patience_ms);
      if (reason.empty()) append_one(*history, directory, appended);
    } catch (const HistoryUnavailable& error) {
      reason = error.what();
    } catch (const Error& error) {
      appended.refused.push_back(why(directory, error));
      continue;
    }
    if (!reason.empty()) mark(directory, reason, appended);
  }
  return appended;
}

}  // namespace gpubench
