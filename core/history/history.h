// The file that nights append to, `<out>/results/history.db`: the figures of all runs by series, and the changes that
// were reported. Runs are ordered by a number that only grows, because clocks jump. Several programs may write at once.
//
// What was reported stays as it was: a later night may find the place of a change elsewhere, but changes nothing here.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/history/run_values.h"
#include "core/history/sqlite.h"

namespace gpubench {

struct HistorySeries {
  std::int64_t id = 0;
  SeriesKey key = {};
  Column column = {};
  bool watched = false;
  std::int64_t judged = 0;  ///< the last run that judge() has looked at; 0: none
};

/// A run as its points refer to it.
struct HistoryRun {
  std::int64_t id = 0;
  std::int64_t sequence = 0;
  std::string host, experiment, name, suite, started;
  std::int64_t environment = 0;
  std::string night = {}, machine = {};
};

struct HistoryPoint {
  std::int64_t run = 0;
  double value = 0;
  std::optional<double> low, high;
  bool reliable = true;
};

/// Of a reported change: `better` needs nobody; `open` is a regression until it is `resolved` by somebody, or
/// `recovered` by a later change.
enum class ChangeState { better, open, resolved, recovered };
std::string_view to_string(ChangeState state);

/// What showed a change: `lasting` values on a new level; `sudden`: one night far from the level, measured again at
/// once; `frequent`: several of the last nights far on the worse side.
enum class ChangeSign { lasting, sudden, frequent };
std::string_view to_string(ChangeSign sign);

struct ReportedChange {
  std::int64_t id = 0;
  std::int64_t series = 0;
  std::string run = {};          ///< the first with the new level
  std::string started = {};      ///< when that run began
  std::string reported = {};     ///< the run after which it was reported
  double before = 0, after = 0;  ///< medians
  std::string cause = {};
  ChangeState state = ChangeState::open;
  std::string closed = {};  ///< the run of the recovery, or when it was resolved
  std::string note = {};
  std::string alarm = {};  ///< the id of the news that it belongs to
  ChangeSign sign = ChangeSign::lasting;
};

std::filesystem::path history_file(const std::filesystem::path& out);

class RunHistory {
 public:
  static constexpr int usual_patience_ms = 20000;

  /// Opens the file, or creates it. Throws HistoryUnavailable.
  explicit RunHistory(const std::filesystem::path& file, int patience_ms = usual_patience_ms);

  /// Adds the run at the end, in one transaction. False if it is there. Throws Error if the run still goes on.
  bool append(const Run& run);

  bool has_run(const std::string& host, const std::string& experiment, const std::string& name) const;
  /// In their order. `experiment`: only its own; all if empty.
  std::vector<HistoryRun> runs(const std::string& experiment = {}) const;
  std::vector<std::string> experiments() const;
  std::vector<HistorySeries> series(const std::string& experiment = {}) const;
  /// Calls `use` for each series of which points are read, with its points in the order of their runs. Reads them in
  /// one pass; keeps one series at a time.
  void for_each_series(const std::vector<HistorySeries>& which,
                       const std::function<void(const HistorySeries&, const std::vector<HistoryPoint>&)>& use) const;
  /// JSON.
  std::string environment(std::int64_t id) const;

  std::vector<ReportedChange> changes(const std::string& experiment = {}) const;
  /// Returns its id.
  std::int64_t add_change(const ReportedChange& change);
  void set_judged(std::int64_t series, std::int64_t run);
  void close_change(std::int64_t id, ChangeState state, const std::string& closed, const std::string& note);
  /// By a person: closes the open changes of an alarm, and returns their number. Throws Error for an alarm that has
  /// none, listing those that do.
  std::size_t resolve(const std::string& alarm, const std::string& note, const std::string& when);

  const Database& database() const { return database_; }

 private:
  Database database_;
};

}  // namespace gpubench
