#include "core/history/maintenance.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

#include "core/codec/output_file.h"
#include "core/history/run_order.h"
#include "core/history/store_run.h"
#include "core/results/csv.h"
#include "core/results/run_directory.h"

namespace gpubench {
namespace {

/// The first of a host's runs, in their order, that stays.
std::size_t first_kept(const std::vector<HistoryRun>& runs, const std::string& oldest, const std::string& future) {
  const auto first = [&](auto&& fits) {
    return static_cast<std::size_t>(std::ranges::find_if(runs, fits) - runs.begin());
  };
  const std::size_t recent =
      first([&](const HistoryRun& run) { return run.started >= oldest && run.started <= future; });
  // Only dates that have not come yet: the clock is wrong now, or was, and nothing says how old these runs are.
  return recent < runs.size() ? recent : first([&](const HistoryRun& run) { return run.started > future; });
}

}  // namespace

Rebuilt rebuild(RunHistory& history, const std::filesystem::path& out) {
  Rebuilt rebuilt;
  std::vector<RunSummary> summaries = list_runs(out);
  std::ranges::reverse(summaries);  // of one second, the oldest first
  std::ranges::stable_sort(summaries, {}, &RunSummary::started);
  Transaction transaction(history.database());
  const std::int64_t last = last_run_id(history.database());
  std::set<std::string> seen;
  for (const RunSummary& summary : summaries) {
    try {
      const Run run = read_run(summary.directory);
      if (is_second_look(run.info)) {
        rebuilt.second_looks.push_back(values_of(run));
        continue;
      }
      const RunValues values = finished_values(run);
      store_run(history.database(), values, last_sequence(history.database()) + 1);
      seen.emplace(values.host + "/" + values.experiment + "/" + values.name);
      ++rebuilt.stored;
    } catch (const HistoryUnavailable&) {
      throw;
    } catch (const Error& error) {
      rebuilt.left_out.push_back(fmt::format("{}: {}", summary.directory.string(), error.what()));
    }
  }
  put_in_one_order(history, {last});
  for (const HistoryRun& run : history.runs())
    rebuilt.kept += seen.contains(run.host + "/" + run.experiment + "/" + run.name) ? 0 : 1;
  transaction.commit();
  return rebuilt;
}

void back_up(const RunHistory& history, const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::equivalent(file, history.database().file(), error))
    throw Error(fmt::format("history: '{}' is this history itself; name another file for the copy", file.string()));
  const bool replaces = std::filesystem::exists(file, error) && std::filesystem::file_size(file, error) > 0;
  if (replaces) {
    const RunHistory there(file);  // throws for a file of somebody else
    if (last_run_id(history.database()) == 0 && last_run_id(there.database()) > 0)
      throw Error(fmt::format("history: '{}' has no run yet; a copy of it does not replace '{}', which has some",
                              history.database().file(), file.string()));
  }
  const Transaction one_moment(history.database());
  const std::string bytes = history.database().bytes();
  OutputFile output(file);
  output.write(std::as_bytes(std::span(bytes)));
  output.commit();
}

std::size_t prune(RunHistory& history, int days, std::chrono::system_clock::time_point now) {
  const std::string oldest = utc_text(now - std::chrono::hours(24) * days);
  const std::string future = utc_text(now + std::chrono::hours(24));
  Transaction transaction(history.database());
  std::map<std::string, std::vector<HistoryRun>> by_host;
  for (HistoryRun& run : history.runs()) by_host[run.host].push_back(std::move(run));
  Statement points = history.database().prepare("DELETE FROM points WHERE run = ?");
  Statement runs = history.database().prepare("DELETE FROM runs WHERE id = ?");
  std::size_t pruned = 0;
  for (const auto& [host, of_host] : by_host) {
    const std::size_t kept = first_kept(of_host, oldest, future);
    for (std::size_t i = 0; i < kept; ++i) {
      points.bind(1, of_host[i].id).run();
      runs.bind(1, of_host[i].id).run();
      ++pruned;
    }
  }
  history.database().execute("DELETE FROM environments WHERE id NOT IN (SELECT environment FROM runs)");
  transaction.commit();
  // Gives the space back to the disk, which a transaction cannot.
  if (pruned > 0) history.database().execute("VACUUM");
  return pruned;
}

void export_csv(const RunHistory& history, const std::string& experiment,
                const std::function<void(std::string_view)>& write,
                const std::function<bool(const HistorySeries&)>& takes) {
  std::unordered_map<std::int64_t, HistoryRun> runs;
  for (HistoryRun& run : history.runs(experiment)) runs.emplace(run.id, std::move(run));
  std::string text = csv_line({"host", "card", "slot", "suite", "experiment", "axes", "metric", "unit", "better",
                               "kind", "run", "sequence", "started", "value", "low", "high", "reliable"});
  const auto cell = [](const std::optional<double>& value) { return value ? to_csv(Cell(*value)) : std::string(); };
  const auto word = [](std::string_view text_of_cell) { return to_csv(Cell(std::string(text_of_cell))); };
  std::vector<HistorySeries> which = history.series(experiment);
  if (takes) std::erase_if(which, [&](const HistorySeries& series) { return !takes(series); });
  history.for_each_series(which, [&](const HistorySeries& series, const auto& points) {
    const SeriesKey& key = series.key;
    for (const HistoryPoint& point : points) {
      const HistoryRun& run = runs.at(point.run);
      text += csv_line({word(key.host), word(key.card), word(key.slot), word(key.suite), word(key.experiment),
                        word(key.axes), word(key.metric), word(to_string(series.column.unit)),
                        word(to_string(series.column.better)), word(to_string(series.column.kind)), word(run.name),
                        std::to_string(run.sequence), word(run.started), cell(point.value), cell(point.low),
                        cell(point.high), point.reliable ? "true" : "false"});
    }
    if (text.size() < (std::size_t{1} << 20)) return;
    write(text);
    text.clear();
  });
  write(text);
}

}  // namespace gpubench
