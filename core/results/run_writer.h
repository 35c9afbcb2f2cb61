// Writes one run's directory. Every row is on disk before add() returns, and a row that cannot be written completely
// (disk full) is removed again, so that finished rows always stay readable. Disk space for the last run.json is kept
// from the start, so that a full disk cannot leave a run "running".
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/column.h"
#include "core/results/info.h"
#include "core/results/record.h"

namespace gpubench {

class AppendFile;
class DiskReserve;

/// Of run.json: it grows when a field changes its meaning or goes away.
inline constexpr int run_schema = 1;

struct RunPlan {
  std::string experiment;
  std::string title;
  std::vector<std::string> axes;
  /// Columns of the rows beyond the standard ones.
  std::vector<Column> extra_columns;
  std::filesystem::path out = ".";
  /// The script that makes the run, which becomes script.lua beside the results; none if empty.
  std::string script = {};
};

class RunWriter {
 public:
  /// Creates `<out>/results/<experiment>/<UTC time>-<host>[-n]` with a header in results.csv and a run.json with status
  /// "running". Throws Error if the experiment's name is no valid directory name, the directory cannot be created, or
  /// the disk has no space for the run's end.
  explicit RunWriter(RunPlan plan);
  RunWriter(RunWriter&&) noexcept;
  RunWriter& operator=(RunWriter&&) noexcept;
  /// Sets the status of an unfinished run to "error".
  ~RunWriter();

  /// Writes the row and its step times and waits for the disk. A new column widens the header by rewriting results.csv.
  /// If it throws Error, the files are unchanged.
  void add(Record record, std::span<const double> step_times = {});
  /// Of a point that is measured in rounds: writes the figures of the `index`-th row (from 1) that a call of the
  /// script's `run` returned to rounds.csv, and the step times of all rounds but the first, which add() writes, to
  /// samples.csv. `record` has point and process.
  void add_round(const Record& record, std::int64_t round, std::int64_t index, std::span<const double> step_times);
  /// Replaces the rows of these records' points, which are the last ones, by rewriting results.csv. If it throws Error,
  /// the files are unchanged.
  void replace(std::vector<Record> records);
  /// Adds or replaces top-level fields of run.json, declared in run_fields.h, and writes it. If it throws Error, the
  /// file is unchanged.
  void set_info(const Info& fields);
  /// Writes run.json for the last time. `status`: done, interrupted, error, died.
  void finish(const std::string& status);

  const RunPlan& plan() const { return plan_; }
  const std::filesystem::path& directory() const { return directory_; }
  /// The directory's name, which charts share: "20261121T041700Z-host".
  std::string name() const { return directory_.filename().string(); }
  /// `<out>/plots/<experiment>/<name>`; not yet created.
  std::filesystem::path chart_directory() const;
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<Record>& records() const { return records_; }
  const Info& info() const { return info_; }

 private:
  void make_files();
  void complete(Record& record) const;
  bool widen_for(const Record& record);
  std::string all_rows() const;
  bool may_be_rewritten(std::string_view line) const;
  void rewrite();
  /// Throws Error, without changes, if the disk has too little space for the run's end with these facts and
  /// `least_left` more bytes.
  void keep_space(const Info& info, std::int64_t least_left);
  void write_info(const Info& info);

  RunPlan plan_;
  std::vector<Column> columns_;
  std::filesystem::path directory_;
  std::vector<Record> records_;
  Info info_;
  std::int64_t written_info_bytes_ = 0;
  std::unique_ptr<DiskReserve> reserve_;
  std::unique_ptr<AppendFile> rows_file_;
  std::unique_ptr<AppendFile> samples_file_;
  std::unique_ptr<AppendFile> rounds_file_;  // from the first round on
};

/// Sets the fields of run.json that are known at the end of a run: the number of rows and the columns with values.
void set_totals(Info& info, const std::vector<Column>& columns, const std::vector<Record>& records);

/// Ends the run of a lost process: its status becomes "error", with `detail` as the reason. Returns false without
/// changes if the run has ended, is not on this machine, or its process is still alive after a second. Throws Error for
/// a file that cannot be read or written.
bool end_abandoned_run(const std::filesystem::path& directory, const std::string& detail);

}  // namespace gpubench
