#include "core/history/merge.h"

#include <fmt/format.h>
#include <optional>
#include <unordered_map>

#include "core/history/news.h"
#include "core/history/run_order.h"
#include "core/history/store_run.h"

namespace gpubench {
namespace {

/// What another history has that this one may lack.
struct Other {
  std::vector<RunValues> runs;  ///< those that are not here
  std::vector<HistorySeries> series;
  std::unordered_map<std::int64_t, HistoryRun> last_judged;  ///< by series
  std::vector<ReportedChange> changes;
  std::vector<News> news;
};

RunValues values_of_run(const RunHistory& history, const HistoryRun& run,
                        const std::unordered_map<std::int64_t, const HistorySeries*>& series) {
  RunValues values{.host = run.host,
                   .experiment = run.experiment,
                   .name = run.name,
                   .suite = run.suite,
                   .started = run.started,
                   .environment = history.environment(run.environment),
                   .night = run.night,
                   .machine = run.machine};
  Statement point =
      history.database().prepare("SELECT series, value, low, high, reliable FROM points WHERE run = ? ORDER BY series");
  for (point.bind(1, run.id); point.step();) {
    const auto found = series.find(point.integer(0));
    if (found == series.end()) continue;
    const HistorySeries& of = *found->second;
    values.values.push_back({.key = of.key,
                             .column = of.column,
                             .watched = of.watched,
                             .value = point.real(1),
                             .low = point.measured(2),
                             .high = point.measured(3),
                             .reliable = point.integer(4) != 0});
  }
  return values;
}

/// Points are read of runs that are new only: most of a file that is merged each night is known.
Other read_other(const RunHistory& history, const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::equivalent(file, history.database().file(), error))
    throw Error(fmt::format("history: '{}' is this history itself; give the file of another machine", file.string()));
  if (!std::filesystem::is_regular_file(file, error))
    throw Error(fmt::format("history: there is no file '{}' to merge", file.string()));
  if (std::filesystem::file_size(file, error) == 0)
    throw HistoryUnavailable(fmt::format("history: '{}' is empty, and no history", file.string()));
  const RunHistory from(file);
  from.database().execute("BEGIN");  // all of one moment: others may write there
  Other other{.runs = {},
              .series = from.series(),
              .last_judged = {},
              .changes = from.changes(),
              .news = all_news(from.database())};
  std::unordered_map<std::int64_t, const HistorySeries*> series;
  for (const HistorySeries& one : other.series) series.emplace(one.id, &one);
  std::unordered_map<std::int64_t, HistoryRun> runs;
  for (HistoryRun& run : from.runs()) {
    if (!history.has_run(run.host, run.experiment, run.name)) other.runs.push_back(values_of_run(from, run, series));
    runs.emplace(run.id, std::move(run));
  }
  for (const HistorySeries& one : other.series)
    if (const auto run = runs.find(one.judged); run != runs.end()) other.last_judged.emplace(one.id, run->second);
  return other;
}

/// Looks up what another history has in this one.
class OwnRows {
 public:
  explicit OwnRows(const Database& database)
      // A card that is known by its id has its series in whatever slot it is.
      : series_(database.prepare("SELECT id FROM series WHERE experiment = ? AND host = ? AND card = ? AND suite = ? "
                                 "AND axes = ? AND metric = ? AND (? OR slot = ?) ORDER BY slot LIMIT 1")),
        judged_(database.prepare("SELECT runs.id, judged FROM runs, series WHERE runs.host = ? AND "
                                 "runs.experiment = ? AND runs.name = ? AND series.id = ?")),
        change_(database.prepare("SELECT id, state = 'open' FROM changes WHERE series = ? AND run = ?")) {}

  std::optional<std::int64_t> series(const SeriesKey& key) {
    int index = 0;
    for (const std::string* part : {&key.experiment, &key.host, &key.card, &key.suite, &key.axes, &key.metric})
      series_.bind(++index, std::string_view(*part));
    series_.bind(7, std::int64_t{is_card_id(key.card)}).bind(8, std::string_view(key.slot));
    return first(series_);
  }

  /// The id of a run that is here and later than what was judged of the series.
  std::optional<std::int64_t> later_run(const HistoryRun& run, std::int64_t series) {
    judged_.bind(1, std::string_view(run.host)).bind(2, std::string_view(run.experiment));
    judged_.bind(3, std::string_view(run.name)).bind(4, series);
    std::int64_t before = 0;
    const std::optional<std::int64_t> found = first(judged_, &before);
    return found && *found > before ? found : std::nullopt;
  }

  struct Change {
    std::int64_t id = 0;
    bool is_open = false;
  };
  std::optional<Change> change(std::int64_t series, const std::string& run) {
    std::int64_t is_open = 0;
    const auto found = first(change_.bind(1, series).bind(2, std::string_view(run)), &is_open);
    if (!found) return std::nullopt;
    return Change{*found, is_open != 0};
  }

 private:
  /// Of the first row column 0, and column 1 into `second`.
  static std::optional<std::int64_t> first(Statement& statement, std::int64_t* second = nullptr) {
    if (!statement.step()) return std::nullopt;
    const std::int64_t found = statement.integer(0);
    if (second) *second = statement.integer(1);
    while (statement.step()) continue;
    return found;
  }

  Statement series_, judged_, change_;
};

void add(RunHistory& history, const Other& other) {
  for (const RunValues& run : other.runs) store_run(history.database(), run, last_sequence(history.database()) + 1);
  OwnRows own(history.database());
  std::unordered_map<std::int64_t, std::int64_t> series_here;
  for (const HistorySeries& series : other.series) {
    const std::optional<std::int64_t> here = own.series(series.key);
    if (!here) continue;
    series_here.emplace(series.id, *here);
    // What the other machine has judged is no news here either.
    const auto run = other.last_judged.find(series.id);
    if (run == other.last_judged.end()) continue;
    if (const auto judged = own.later_run(run->second, *here)) history.set_judged(*here, *judged);
  }
  for (ReportedChange change : other.changes) {
    const auto found = series_here.find(change.series);
    if (found == series_here.end()) continue;
    change.series = found->second;
    const auto known = own.change(change.series, change.run);
    if (!known) {
      history.add_change(change);
    } else if (known->is_open && change.state != ChangeState::open) {
      history.close_change(known->id, change.state, change.closed, change.note);
    }
  }
  merge_news(history, other.news);
}

}  // namespace

std::vector<MergedFile> merge(RunHistory& history, const std::vector<std::filesystem::path>& others) {
  std::vector<MergedFile> merged;
  std::vector<std::int64_t> lasts{last_run_id(history.database())};
  for (const std::filesystem::path& file : others) {
    Other other;
    try {
      other = read_other(history, file);
    } catch (const Error& error) {
      merged.push_back({.fault = error.what()});
      continue;
    }
    Transaction transaction(history.database());
    add(history, other);
    transaction.commit();
    lasts.push_back(last_run_id(history.database()));
    merged.push_back({.added = other.runs.size()});
  }
  if (lasts.back() == lasts.front()) return merged;
  Transaction transaction(history.database());
  put_in_one_order(history, lasts);
  transaction.commit();
  return merged;
}

}  // namespace gpubench
