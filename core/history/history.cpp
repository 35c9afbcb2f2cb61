#include "core/history/history.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <unordered_map>

#include "core/base/enum_names.h"
#include "core/base/known_names.h"
#include "core/history/new_history.h"
#include "core/history/schema.h"
#include "core/history/store_run.h"
#include "core/results/run_directory.h"

namespace gpubench {
namespace {

constexpr EnumNames<ChangeState, 4> change_states{"unknown state of a change",
                                                  {"better", "open", "resolved", "recovered"}};

constexpr EnumNames<ChangeSign, 3> change_signs{"unknown sign of a change", {"lasting", "sudden", "frequent"}};

HistorySeries series_in(const Statement& row) {
  HistorySeries series{
      .id = row.integer(0),
      .key = {row.text(1), row.text(2), row.text(3), row.text(4), row.text(5), row.text(6), row.text(7)},
      .column = {.name = row.text(7)},
      .watched = row.integer(11) != 0};
  series.column.unit = parse_unit(row.text(8));
  series.column.better = parse_better(row.text(9));
  series.column.kind = parse_kind(row.text(10));
  series.judged = row.integer(12);
  return series;
}

ReportedChange change_in(const Statement& row) {
  return {.id = row.integer(0),
          .series = row.integer(1),
          .run = row.text(2),
          .started = row.text(3),
          .reported = row.text(4),
          .before = row.real(5),
          .after = row.real(6),
          .cause = row.text(7),
          .state = change_states.parse(row.text(8)),
          .closed = row.text(9),
          .note = row.text(10),
          .alarm = row.text(11),
          .sign = change_signs.parse(row.text(12))};
}

HistoryRun run_in(const Statement& row) {
  return {row.integer(0), row.integer(1), row.text(2),    row.text(3), row.text(4),
          row.text(5),    row.text(6),    row.integer(7), row.text(8), row.text(9)};
}

/// What `read` makes of each row of `sql`, whose parameter 1 is the experiment, or empty for all.
template <class T>
std::vector<T> rows_of(const Database& database, std::string_view sql, const std::string& experiment,
                       T (*read)(const Statement&)) {
  Statement row = database.prepare(sql);
  row.bind(1, experiment);
  std::vector<T> all;
  while (row.step()) all.push_back(read(row));
  return all;
}

/// Of each run, its place in the order.
std::unordered_map<std::int64_t, std::int64_t> sequences(const Database& database) {
  std::unordered_map<std::int64_t, std::int64_t> all;
  for (Statement row = database.prepare("SELECT id, sequence FROM runs"); row.step();)
    all.emplace(row.integer(0), row.integer(1));
  return all;
}

}  // namespace

std::string_view to_string(ChangeState state) {
  return change_states[state];
}

std::string_view to_string(ChangeSign sign) {
  return change_signs[sign];
}

std::filesystem::path history_file(const std::filesystem::path& out) {
  return results_root(out) / "history.db";
}

RunHistory::RunHistory(const std::filesystem::path& file, int patience_ms)
    : database_((make_history_once(file), file), patience_ms) {
  prepare_schema(database_);
}

bool RunHistory::append(const Run& run) {
  const RunValues values = finished_values(run);
  Transaction transaction(database_);
  if (has_run(values.host, values.experiment, values.name)) return false;
  store_run(database_, values, last_sequence(database_) + 1);
  transaction.commit();
  return true;
}

bool RunHistory::has_run(const std::string& host, const std::string& experiment, const std::string& name) const {
  Statement found = database_.prepare("SELECT 1 FROM runs WHERE host = ? AND experiment = ? AND name = ?");
  return found.bind(1, host).bind(2, experiment).bind(3, name).step();
}

std::vector<HistoryRun> RunHistory::runs(const std::string& experiment) const {
  return rows_of(database_,
                 "SELECT id, sequence, host, experiment, name, suite, started, environment, night, machine FROM runs "
                 "WHERE ?1 = '' OR experiment = ?1 ORDER BY sequence, id",
                 experiment, run_in);
}

std::vector<std::string> RunHistory::experiments() const {
  std::vector<std::string> names;
  for (Statement row = database_.prepare("SELECT DISTINCT experiment FROM series ORDER BY experiment"); row.step();)
    names.push_back(row.text(0));
  return names;
}

std::vector<HistorySeries> RunHistory::series(const std::string& experiment) const {
  return rows_of(
      database_,
      "SELECT id, host, card, slot, suite, experiment, axes, metric, unit, better, kind, watched, judged "
      "FROM series WHERE ?1 = '' OR experiment = ?1 ORDER BY experiment, host, slot, card, suite, axes, metric",
      experiment, series_in);
}

void RunHistory::for_each_series(
    const std::vector<HistorySeries>& which,
    const std::function<void(const HistorySeries&, const std::vector<HistoryPoint>&)>& use) const {
  const auto place = sequences(database_);
  const auto earlier = [&](const HistoryPoint& a, const HistoryPoint& b) {
    const std::int64_t left = place.at(a.run), right = place.at(b.run);
    return left != right ? left < right : a.run < b.run;
  };
  Statement row = database_.prepare("SELECT run, value, low, high, reliable FROM points WHERE series = ? ORDER BY run");
  std::vector<HistoryPoint> points;
  for (const HistorySeries& series : which) {
    points.clear();
    row.bind(1, series.id);
    while (row.step())
      points.push_back({row.integer(0), row.real(1), row.measured(2), row.measured(3), row.integer(4) != 0});
    // A clock that jumps, and files that were merged, leave few out of place.
    if (!std::ranges::is_sorted(points, earlier)) std::ranges::stable_sort(points, earlier);
    use(series, points);
  }
}

std::string RunHistory::environment(std::int64_t id) const {
  Statement row = database_.prepare("SELECT facts FROM environments WHERE id = ?");
  return row.bind(1, id).step() ? row.text(0) : "{}";
}

std::vector<ReportedChange> RunHistory::changes(const std::string& experiment) const {
  return rows_of(
      database_,
      "SELECT changes.id, changes.series, run, started, reported, before, "
      "after, cause, state, closed, note, alarm, sign "
      "FROM changes JOIN series ON series.id = changes.series WHERE ?1 = '' OR experiment = ?1 ORDER BY changes.id",
      experiment, change_in);
}

std::int64_t RunHistory::add_change(const ReportedChange& change) {
  database_
      .prepare(
          "INSERT INTO changes(series, run, started, reported, before, after, cause, state, closed, note, alarm, "
          "sign) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(1, change.series)
      .bind(2, change.run)
      .bind(3, change.started)
      .bind(4, change.reported)
      .bind(5, change.before)
      .bind(6, change.after)
      .bind(7, change.cause)
      .bind(8, to_string(change.state))
      .bind(9, change.closed)
      .bind(10, change.note)
      .bind(11, change.alarm)
      .bind(12, to_string(change.sign))
      .run();
  return database_.last_id();
}

void RunHistory::set_judged(std::int64_t series, std::int64_t run) {
  database_.prepare("UPDATE series SET judged = ? WHERE id = ?").bind(1, run).bind(2, series).run();
}

void RunHistory::close_change(std::int64_t id, ChangeState state, const std::string& closed, const std::string& note) {
  database_.prepare("UPDATE changes SET state = ?, closed = ?, note = ? WHERE id = ?")
      .bind(1, to_string(state))
      .bind(2, closed)
      .bind(3, note)
      .bind(4, id)
      .run();
}

std::size_t RunHistory::resolve(const std::string& alarm, const std::string& note, const std::string& when) {
  Transaction transaction(database_);
  std::set<std::string> open;
  std::size_t closed = 0;
  for (const ReportedChange& change : changes()) {
    if (change.state != ChangeState::open) continue;
    open.insert(change.alarm);
    if (change.alarm != alarm) continue;
    close_change(change.id, ChangeState::resolved, when, note);
    ++closed;
  }
  if (closed == 0)
    throw Error(fmt::format("history: there is no open alarm '{}'; {}", alarm,
                            open.empty() ? "none is open" : fmt::format("open are {}", fmt::join(open, ", "))));
  transaction.commit();
  return closed;
}

}  // namespace gpubench
