#include "core/history/missing.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "core/history/news.h"
#include "core/history/night_state.h"

namespace gpubench {
namespace {

/// A figure of a card; of devices that have no id, on whichever is in the slot.
using Figure = std::tuple<std::string, std::string, std::string, std::string>;

Figure figure_of(const SeriesKey& key) {
  return {is_card_id(key.card) ? key.card : key.slot, key.experiment, key.axes, key.metric};
}

/// Makes a table of the ids of runs.
void name_tonight(const Database& database, const std::vector<std::string>& runs) {
  database.execute("CREATE TEMP TABLE IF NOT EXISTS tonight(run INTEGER PRIMARY KEY)");
  database.execute("DELETE FROM tonight");
  Statement add =
      database.prepare("INSERT OR IGNORE INTO tonight SELECT id FROM runs WHERE experiment || '/' || name = ?");
  for (const std::string& run : runs) add.bind(1, std::string_view(run)).run();
}

std::set<std::int64_t> measured_tonight(const Database& database) {
  std::set<std::int64_t> measured;
  for (Statement row = database.prepare("SELECT DISTINCT series FROM points WHERE run IN tonight"); row.step();)
    measured.insert(row.integer(0));
  return measured;
}

std::map<std::int64_t, std::string> known_as_missing(const Database& database) {
  std::map<std::int64_t, std::string> known;
  for (Statement row = database.prepare("SELECT series, since FROM missing"); row.step();)
    known.emplace(row.integer(0), row.text(1));
  return known;
}

/// The runs before tonight that have each figure.
class EarlierRuns {
 public:
  EarlierRuns(const Database& database, const std::vector<HistorySeries>& all) {
    Statement row =
        database.prepare("SELECT run FROM points WHERE series = ? AND run NOT IN tonight ORDER BY run DESC LIMIT 2");
    for (const HistorySeries& series : all) {
      row.bind(1, series.id);
      while (row.step()) runs_[figure_of(series.key)].emplace_back(row.integer(0), series.id);
    }
    for (auto& [figure, runs] : runs_) {
      std::ranges::sort(runs, std::greater());
      std::int64_t& repeated = repeated_[{std::get<0>(figure), std::get<1>(figure)}];
      if (runs.size() > 1) repeated = std::max(repeated, runs[1].first);
    }
  }

  /// Whether the series is that of the card which had the figure last.
  bool has(const HistorySeries& series) const {
    const auto found = runs_.find(figure_of(series.key));
    return found != runs_.end() && found->second[0].second == series.id;
  }
  std::int64_t last_run(const HistorySeries& series) const { return runs_.at(figure_of(series.key))[0].first; }
  /// Looking back from tonight, the last night ends where a figure comes for the second time: of older programs, whose
  /// nights have no ids.
  bool had_last_night(const HistorySeries& series) const {
    return runs_.at(figure_of(series.key))[0].first >
           repeated_.at({std::get<0>(figure_of(series.key)), series.key.experiment});
  }

 private:
  std::map<Figure, std::vector<std::pair<std::int64_t, std::int64_t>>> runs_;  ///< run, series
  std::map<std::pair<std::string, std::string>, std::int64_t> repeated_;       ///< by card or slot, and experiment
};

/// Of the last night that looked for what is missing: a later one was killed before. None of older programs.
std::optional<std::int64_t> first_run_of_judged_night(const RunHistory& history, const std::string& suite,
                                                      const std::string& host) {
  const std::optional<std::string> night = remembered(history, host, suite, judged_night);
  if (!night) return std::nullopt;
  Statement row = history.database().prepare("SELECT min(id) FROM runs WHERE host = ? AND suite = ? AND night = ?");
  row.bind(1, host).bind(2, suite).bind(3, *night);
  if (!row.step() || row.integer(0) == 0) return std::nullopt;
  return row.integer(0);
}

}  // namespace

std::vector<MissingSeries> find_missing(RunHistory& history, const std::vector<std::string>& runs,
                                        const std::string& suite, const std::string& host) {
  const Database& database = history.database();
  Transaction transaction(database);
  name_tonight(database, runs);
  std::vector<HistorySeries> all = history.series();
  std::erase_if(all, [&](const HistorySeries& series) {
    return !series.watched || series.key.suite != suite || series.key.host != host;
  });
  const std::set<std::int64_t> measured = measured_tonight(database);
  std::set<Figure> figures;
  for (const HistorySeries& series : all)
    if (measured.contains(series.id)) figures.insert(figure_of(series.key));
  const std::map<std::int64_t, std::string> known = known_as_missing(database);
  const EarlierRuns earlier(database, all);
  const std::optional<std::int64_t> judged = first_run_of_judged_night(history, suite, host);
  Statement found_again = database.prepare("DELETE FROM missing WHERE series = ?");
  std::vector<MissingSeries> missing;
  for (const HistorySeries& series : all) {
    const auto reported = known.find(series.id);
    if (figures.contains(figure_of(series.key)) || !earlier.has(series)) {
      if (reported != known.end()) found_again.bind(1, series.id).run();
    } else if (reported != known.end()) {
      if (!reported->second.empty()) missing.push_back({series, reported->second});
    } else if (judged ? earlier.last_run(series) >= *judged : earlier.had_last_night(series)) {
      missing.push_back({series});
    }
  }
  transaction.commit();
  return missing;
}

void report_missing(RunHistory& history, const std::vector<MissingNews>& all, const std::string& suite,
                    const std::string& host, const std::string& night, const std::string& when) {
  Transaction transaction(history.database());
  Statement add = history.database().prepare("INSERT INTO missing VALUES(?, ?) ON CONFLICT DO NOTHING");
  for (const auto& [series, line] : all) {
    for (const std::int64_t id : series) add.bind(1, id).bind(2, std::string_view(when)).run();
    add_news(history.database(),
             {.host = host, .suite = suite, .kind = NewsKind::missing, .night = night, .line = line}, {night, line});
  }
  transaction.commit();
}

void give_up_missing(RunHistory& history, const std::vector<std::int64_t>& series) {
  Transaction transaction(history.database());
  Statement add = history.database().prepare("INSERT INTO missing VALUES(?, '') ON CONFLICT DO NOTHING");
  for (const std::int64_t id : series) add.bind(1, id).run();
  transaction.commit();
}

std::int64_t accept_missing(RunHistory& history, const std::string& experiment) {
  Statement accept = history.database().prepare(
      "UPDATE missing SET since = '' WHERE since <> '' AND (?1 = '' OR series IN (SELECT id FROM series WHERE "
      "experiment = ?1))");
  accept.bind(1, std::string_view(experiment)).run();
  return history.database().changed();
}

}  // namespace gpubench
