#include "core/history/store_run.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/results/info.h"
#include "core/results/run_directory.h"

namespace gpubench {
namespace {

std::int64_t environment_id(const Database& database, const std::string& facts) {
  database.prepare("INSERT INTO environments(facts) VALUES(?) ON CONFLICT DO NOTHING").bind(1, facts).run();
  Statement found = database.prepare("SELECT id FROM environments WHERE facts = ?");
  found.bind(1, facts).step();
  return found.integer(0);
}

std::int64_t run_id(const Database& database, const RunValues& run) {
  Statement found = database.prepare("SELECT id FROM runs WHERE host = ? AND experiment = ? AND name = ?");
  return found.bind(1, run.host).bind(2, run.experiment).bind(3, run.name).step() ? found.integer(0) : 0;
}

std::int64_t new_run(const Database& database, const RunValues& run, std::int64_t sequence) {
  database
      .prepare(
          "INSERT INTO runs(sequence, host, experiment, name, suite, started, environment, night, machine) "
          "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(1, sequence)
      .bind(2, run.host)
      .bind(3, run.experiment)
      .bind(4, run.name)
      .bind(5, run.suite)
      .bind(6, run.started)
      .bind(7, environment_id(database, run.environment))
      .bind(8, run.night)
      .bind(9, run.machine)
      .run();
  return database.last_id();
}

/// Finds or adds series, and points of one run.
class PointWriter {
 public:
  explicit PointWriter(const Database& database)
      : add_series_(database.prepare(
            "INSERT INTO series(host, card, slot, suite, experiment, axes, metric, unit, better, kind, watched) "
            "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET watched = excluded.watched, "
            "unit = excluded.unit, better = excluded.better, kind = excluded.kind RETURNING id")),
        add_point_(database.prepare("INSERT OR REPLACE INTO points(series, run, value, low, high, reliable) "
                                    "VALUES(?, ?, ?, ?, ?, ?)")) {}

  void add(std::int64_t run, const RunValue& value) {
    const SeriesKey& key = value.key;
    int index = 0;
    for (const std::string& part :
         {key.host, key.card, key.slot, key.suite, key.experiment, key.axes, key.metric,
          std::string(to_string(value.column.unit)), std::string(to_string(value.column.better)),
          std::string(to_string(value.column.kind))}) {
      add_series_.bind(++index, std::string_view(part));
    }
    add_series_.bind(++index, std::int64_t{value.watched}).step();
    const std::int64_t series = add_series_.integer(0);
    while (add_series_.step()) continue;
    add_point_.bind(1, series)
        .bind(2, run)
        .bind(3, value.value)
        .bind(4, value.low)
        .bind(5, value.high)
        .bind(6, std::int64_t{value.reliable})
        .run();
  }

 private:
  Statement add_series_, add_point_;
};

/// Whether the latest run of a series had the same parameters.
bool has_params(const Database& database, std::int64_t series, const RunValues& run) {
  Statement row = database.prepare(
      "SELECT facts FROM points JOIN runs ON runs.id = points.run JOIN environments ON environments.id = environment "
      "WHERE series = ? ORDER BY runs.id DESC LIMIT 1");
  if (!row.bind(1, series).step()) return false;
  const Info before = parse_json(row.text(0), "history: environment");
  const Info now = parse_json(run.environment, "history: environment");
  return std::ranges::all_of(run.changed_params, [&](const std::string& name) {
    return before.text("params." + name) == now.text("params." + name);
  });
}

/// Series of older programs, which did not tell parameters apart, go on under the key that has the parameters.
void adopt_older_series(const Database& database, const RunValues& run) {
  if (run.changed_params.empty()) return;
  Statement find = database.prepare(
      "SELECT id FROM series WHERE experiment = ?1 AND host = ?2 AND card = ?3 AND slot = ?4 AND suite = ?5 AND "
      "axes = ?6 AND metric = ?7 AND NOT EXISTS (SELECT 1 FROM series WHERE experiment = ?1 AND host = ?2 AND "
      "card = ?3 AND slot = ?4 AND suite = ?5 AND axes = ?8 AND metric = ?7)");
  Statement rename = database.prepare("UPDATE series SET axes = ? WHERE id = ?");
  for (const RunValue& value : run.values) {
    const SeriesKey& key = value.key;
    int index = 0;
    for (const std::string& part :
         {key.experiment, key.host, key.card, key.slot, key.suite, value.axes_alone, key.metric, key.axes})
      find.bind(++index, std::string_view(part));
    if (!find.step()) continue;
    const std::int64_t series = find.integer(0);
    while (find.step()) continue;
    if (has_params(database, series, run)) rename.bind(1, std::string_view(key.axes)).bind(2, series).run();
  }
}

/// A card that is known by its id takes its series along to another slot.
class MovedCards {
 public:
  explicit MovedCards(const Database& database)
      : database_(database),
        // Goes from experiment to experiment in the index of series, which begins with it.
        other_slot_(database.prepare(
            "WITH RECURSIVE one(name) AS (SELECT min(experiment) FROM series UNION ALL SELECT (SELECT "
            "min(experiment) FROM series WHERE experiment > name) FROM one WHERE name IS NOT NULL) "
            "SELECT id, slot FROM one CROSS JOIN series ON experiment = name AND host = ? AND card = ? AND slot <> ? "
            "LIMIT 1")),
        latest_(database.prepare("SELECT started FROM runs WHERE id = (SELECT max(run) FROM points WHERE series IN "
                                 "(SELECT id FROM series WHERE host = ? AND card = ?))")) {}

  /// Either the series of the run's cards come to the slots of the run, or, where later runs have shown them elsewhere,
  /// its values go to where they are.
  void settle(RunValues& run) {
    std::map<std::string, std::set<std::string>> slots;
    for (const RunValue& value : run.values)
      if (is_card_id(value.key.card)) slots[value.key.card].insert(value.key.slot);
    for (const auto& [card, of_card] : slots) {
      if (of_card.size() > 1) continue;  // parts of one card
      const std::string& slot = *of_card.begin();
      const std::optional<std::string> other = other_slot(run.host, card, slot);
      if (!other) continue;
      if (run.started >= latest(run.host, card)) {
        move(run.host, card, slot);
      } else {
        for (RunValue& value : run.values)
          if (value.key.card == card) value.key.slot = *other;
      }
    }
  }

 private:
  std::optional<std::string> other_slot(const std::string& host, const std::string& card, const std::string& slot) {
    other_slot_.bind(1, std::string_view(host)).bind(2, std::string_view(card)).bind(3, std::string_view(slot));
    if (!other_slot_.step()) return std::nullopt;
    std::string found = other_slot_.text(1);
    while (other_slot_.step()) continue;
    return found;
  }

  std::string latest(const std::string& host, const std::string& card) {
    if (!latest_.bind(1, std::string_view(host)).bind(2, std::string_view(card)).step()) return {};
    std::string started = latest_.text(0);
    while (latest_.step()) continue;
    return started;
  }

  void move(const std::string& host, const std::string& card, const std::string& slot) {
    const auto run = [&](const char* sql) { database_.prepare(sql).bind(1, host).bind(2, card).bind(3, slot).run(); };
    run("UPDATE OR IGNORE series SET slot = ?3 WHERE host = ?1 AND card = ?2 AND slot <> ?3");
    // Of older programs, a card may have the same figure in both slots: these are one series.
    Statement left = database_.prepare(
        "SELECT old.id, new.id FROM series AS old JOIN series AS new USING(host, card, suite, experiment, axes, "
        "metric) WHERE host = ? AND card = ? AND old.slot <> ?3 AND new.slot = ?3");
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
    left.bind(1, std::string_view(host)).bind(2, std::string_view(card)).bind(3, std::string_view(slot));
    while (left.step()) pairs.emplace_back(left.integer(0), left.integer(1));
    for (const auto& [from, to] : pairs) {
      for (const char* const table : {"points", "changes"})
        database_.prepare(fmt::format("UPDATE OR IGNORE {} SET series = ? WHERE series = ?", table))
            .bind(1, to)
            .bind(2, from)
            .run();
      for (const char* const table : {"points", "changes", "missing"})
        database_.prepare(fmt::format("DELETE FROM {} WHERE series = ?", table)).bind(1, from).run();
      database_.prepare("DELETE FROM series WHERE id = ?").bind(1, from).run();
    }
  }

  const Database& database_;
  Statement other_slot_, latest_;
};

}  // namespace

std::int64_t last_sequence(const Database& database) {
  Statement last = database.prepare("SELECT coalesce(max(sequence), 0) FROM runs");
  return last.step() ? last.integer(0) : 0;
}

RunValues finished_values(const Run& run) {
  if (run.info.text("status") == unfinished_status)
    throw Error(
        fmt::format("history: the run '{}' still goes on; append it when it has ended", run.directory.string()));
  return values_of(run);
}

void store_run(const Database& database, RunValues run, std::int64_t sequence) {
  std::int64_t id = run_id(database, run);
  if (id == 0) {
    id = new_run(database, run, sequence);
  } else {
    database.prepare("DELETE FROM points WHERE run = ?").bind(1, id).run();
    database.prepare("UPDATE runs SET suite = ?, started = ?, environment = ?, night = ?, machine = ? WHERE id = ?")
        .bind(1, run.suite)
        .bind(2, run.started)
        .bind(3, environment_id(database, run.environment))
        .bind(4, run.night)
        .bind(5, run.machine)
        .bind(6, id)
        .run();
  }
  MovedCards(database).settle(run);
  adopt_older_series(database, run);
  PointWriter writer(database);
  for (const RunValue& value : run.values) writer.add(id, value);
}

}  // namespace gpubench
