#include "core/history/schema.h"

#include <array>
#include <fmt/format.h>
#include <span>
#include <string>
#include <vector>

namespace gpubench {
namespace {

/// "gpbh": says that a file of SQLite is a history.
constexpr std::int64_t history_application = 0x67706268;

// A version is never changed once it was released: a new one is added behind it.
//
// `runs.sequence` is the order of the runs, because clocks jump: it only grows as runs are appended. `runs.started` is
// what the clock of the host said.
// `changes` holds what was reported, as it was reported: it names runs, which may have been pruned since.
constexpr std::array first_version = {
    "CREATE TABLE environments(id INTEGER PRIMARY KEY, facts TEXT NOT NULL UNIQUE)",
    "CREATE TABLE runs(id INTEGER PRIMARY KEY AUTOINCREMENT, sequence INTEGER NOT NULL, host TEXT NOT NULL, "
    "experiment TEXT NOT NULL, name TEXT NOT NULL, suite TEXT NOT NULL, started TEXT NOT NULL, "
    "environment INTEGER NOT NULL REFERENCES environments, UNIQUE(host, experiment, name))",
    "CREATE INDEX runs_in_order ON runs(sequence)",
    "CREATE INDEX runs_by_name ON runs(name)",
    "CREATE TABLE series(id INTEGER PRIMARY KEY, host TEXT NOT NULL, card TEXT NOT NULL, slot TEXT NOT NULL, "
    "suite TEXT NOT NULL, experiment TEXT NOT NULL, axes TEXT NOT NULL, metric TEXT NOT NULL, unit TEXT NOT NULL, "
    "better TEXT NOT NULL, kind TEXT NOT NULL, watched INTEGER NOT NULL, "
    "UNIQUE(experiment, host, card, slot, suite, axes, metric))",
    "CREATE TABLE points(series INTEGER NOT NULL REFERENCES series, run INTEGER NOT NULL REFERENCES runs, "
    "value REAL NOT NULL, low REAL, high REAL, reliable INTEGER NOT NULL, PRIMARY KEY(series, run)) WITHOUT ROWID",
    "CREATE INDEX points_by_run ON points(run)",
    "CREATE TABLE changes(id INTEGER PRIMARY KEY AUTOINCREMENT, series INTEGER NOT NULL REFERENCES series, "
    "run TEXT NOT NULL, started TEXT NOT NULL, reported TEXT NOT NULL, before REAL NOT NULL, after REAL NOT NULL, "
    "cause TEXT NOT NULL, state TEXT NOT NULL, closed TEXT NOT NULL, note TEXT NOT NULL, UNIQUE(series, run))",
};

// `series.judged` is the last run that a judgement looked at: what lies before it is no news. Every run of an older
// file counts as judged, because each night judges what it appends.
// `missing` holds the series that a night lacked and reported: since when, empty once somebody has accepted it.
// `verdicts` holds the latest verdict of each claim that was not open: "confirmed", "refuted", or "alarmed" where a
// night has reported that it was refuted.
constexpr std::array second_version = {
    "ALTER TABLE series ADD COLUMN judged INTEGER NOT NULL DEFAULT 0",
    "UPDATE series SET judged = (SELECT coalesce(max(run), 0) FROM points WHERE points.series = series.id)",
    "CREATE TABLE missing(series INTEGER PRIMARY KEY REFERENCES series, since TEXT NOT NULL)",
    "CREATE TABLE verdicts(host TEXT NOT NULL, suite TEXT NOT NULL, job TEXT NOT NULL, experiment TEXT NOT NULL, "
    "claim TEXT NOT NULL, verdict TEXT NOT NULL, PRIMARY KEY(host, suite, job, experiment, claim)) WITHOUT ROWID",
};

// `runs.night` is the id of the night that measured it, empty for runs by hand; `runs.machine` what tells machines of
// one host name apart.
// `news` holds what a night has to tell, in the words that it tells it with: `night` is the one that found it, `told`
// the one whose summary has told it, empty until then. What an older file has was told. `states` holds what
// a night leaves for the next one of its suite and host. `changes.sign` says what showed the change. `changes.alarm` is
// the news that a change belongs to: one cause moves many figures. Numbers of an older file get the host's name, so
// that they stay different when files are merged.
constexpr std::array third_version = {
    "ALTER TABLE runs ADD COLUMN night TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE runs ADD COLUMN machine TEXT NOT NULL DEFAULT ''",
    "CREATE TABLE news(id TEXT PRIMARY KEY, host TEXT NOT NULL, suite TEXT NOT NULL, kind TEXT NOT NULL, "
    "night TEXT NOT NULL, line TEXT NOT NULL, told TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE states(host TEXT NOT NULL, suite TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, "
    "PRIMARY KEY(host, suite, name)) WITHOUT ROWID",
    "ALTER TABLE changes ADD COLUMN sign TEXT NOT NULL DEFAULT 'lasting'",
    "ALTER TABLE changes ADD COLUMN alarm TEXT NOT NULL DEFAULT ''",
    "UPDATE changes SET alarm = (SELECT host FROM series WHERE series.id = changes.series) || '-' || id",
    "CREATE INDEX changes_by_alarm ON changes(alarm)",
};

constexpr std::array<std::span<const char* const>, 3> versions = {std::span<const char* const>(first_version),
                                                                  std::span<const char* const>(second_version),
                                                                  std::span<const char* const>(third_version)};

std::int64_t pragma(const Database& database, const char* name) {
  Statement statement = database.prepare(fmt::format("PRAGMA {}", name));
  return statement.step() ? statement.integer(0) : 0;
}

/// Tables and indexes, with the statements that made them.
std::vector<std::string> objects_in(const Database& database) {
  std::vector<std::string> objects;
  // SQLite keeps statistics of its own in sqlite_stat1 and 4, where somebody has asked for them.
  Statement row = database.prepare(
      "SELECT type || ' ' || name || ' of ' || tbl_name || ': ' || coalesce(sql, '') FROM sqlite_schema "
      "WHERE name NOT GLOB 'sqlite_stat*' ORDER BY 1");
  while (row.step()) objects.push_back(row.text(0));
  return objects;
}

void bring_up(const Database& database, std::int64_t from, std::int64_t to) {
  for (std::int64_t version = from; version < to; ++version)
    for (const char* const step : versions[static_cast<std::size_t>(version)]) database.execute(step);
}

/// A schema from elsewhere can hold expressions that run when it is read; ours is known word by word.
void check_objects(const Database& database, std::int64_t version) {
  const Database expected(":memory:", 0);
  bring_up(expected, 0, version);
  if (objects_in(database) == objects_in(expected)) return;
  throw HistoryUnavailable(fmt::format(
      "history: '{}': its tables are not those of a history of schema {}: it is damaged, or another program "
      "has changed it; move it away, then 'gpubench history --rebuild' makes a new one from the runs",
      database.file(), version));
}

bool is_empty_file(const Database& database) {
  Statement statement = database.prepare("SELECT count(*) FROM sqlite_schema");
  return statement.step() && statement.integer(0) == 0;
}

void check_application(const Database& database) {
  // In this order: another program may just be making the schema, tables and id together.
  if (is_empty_file(database) || pragma(database, "application_id") == history_application) return;
  throw HistoryUnavailable(fmt::format("history: '{}' is a database of another program", database.file()));
}

constexpr auto newest_version = static_cast<std::int64_t>(versions.size());

std::int64_t version_of(const Database& database) {
  const std::int64_t version = pragma(database, "user_version");
  if (version >= 0 && version <= newest_version) return version;
  throw HistoryUnavailable(
      fmt::format("history: '{}' has schema {}, made by a newer gpubench; this one knows schemas up to {}. Use the "
                  "newer program",
                  database.file(), version, newest_version));
}

std::int64_t checked_version(const Database& database) {
  database.execute("BEGIN");  // version and tables of one moment
  const std::int64_t version = version_of(database);
  check_objects(database, version);
  database.execute("COMMIT");
  return version;
}

}  // namespace

void prepare_schema(const Database& database) {
  check_application(database);
  database.use_write_ahead_log();  // in this mode `normal` still never damages the file
  database.execute("PRAGMA synchronous = NORMAL");
  if (checked_version(database) == newest_version) return;
  Transaction transaction(database);
  bring_up(database, version_of(database), newest_version);  // another program may just have done it
  database.execute(fmt::format("PRAGMA application_id = {}", history_application));
  database.execute(fmt::format("PRAGMA user_version = {}", newest_version));
  transaction.commit();
}

}  // namespace gpubench
