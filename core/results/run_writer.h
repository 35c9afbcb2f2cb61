// Writes one run's directory. Every row is on disk before add() returns, and a row that cannot be written whole (a full
// disk) is taken back, so finished rows stay readable whatever happens next.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/results/column.h"
#include "core/results/info.h"
#include "core/results/record.h"

namespace gpubench {

class AppendFile;

struct RunPlan {
  std::string experiment;
  std::string title;
  std::vector<std::string> axes;
  /// Columns beyond the standard ones that rows will have.
  std::vector<std::string> extra_columns;
  std::filesystem::path out = ".";
};

class RunWriter {
 public:
  /// Makes `<out>/results/<experiment>/<UTC time>-<host>[-n]` with a header in results.csv and a run.json whose status
  /// is "running". Throws Error when the experiment's name cannot be a directory's or the directory cannot be made.
  explicit RunWriter(RunPlan plan);
  RunWriter(RunWriter&&) noexcept;
  RunWriter& operator=(RunWriter&&) noexcept;
  /// A run that was not finished gets the status "error".
  ~RunWriter();

  /// Writes the row and its step times and waits for the disk. A column not seen before widens the header by
  /// rewriting results.csv. Throws Error, the files as they were before.
  void add(Record record, std::span<const double> step_times = {});
  /// Adds or replaces top-level fields of run.json and writes it.
  void set_info(const Info& fields);
  /// Writes run.json for the last time. status: done, interrupted, error, died.
  void finish(const std::string& status);

  const RunPlan& plan() const { return plan_; }
  const std::filesystem::path& directory() const { return directory_; }
  /// The directory's own name, which charts share: "20261121T041700Z-host".
  std::string name() const { return directory_.filename().string(); }
  /// `<out>/plots/<experiment>/<name>`; not made yet.
  std::filesystem::path chart_directory() const;
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<Record>& records() const { return records_; }
  const Info& info() const { return info_; }

 private:
  void complete(Record& record) const;
  bool widen_for(const Record& record);
  void write_info();

  RunPlan plan_;
  std::filesystem::path directory_;
  std::vector<Column> columns_;
  std::vector<Record> records_;
  Info info_;
  std::unique_ptr<AppendFile> rows_file_;
  std::unique_ptr<AppendFile> samples_file_;
};

/// The fields of run.json that are known at a run's end: the number of rows, and the columns that hold something.
void set_totals(Info& info, const std::vector<Column>& columns, const std::vector<Record>& records);

/// Ends the record of a run whose process is lost before it could: its status becomes "error", with `detail` as the
/// reason. False, and nothing is changed, where it has ended already, is not on this machine, or its process lives on
/// for a second. Throws Error for a file that cannot be read or written.
bool end_abandoned_run(const std::filesystem::path& directory, const std::string& detail);

}  // namespace gpubench
