// Writes one run's directory. Every row is on disk before add() returns, and a row that cannot be written whole (a full
// disk) is taken back, so finished rows stay readable whatever happens next.
//
// lua/api/results.cpp shows it to lua/gpubench/experiment.lua as `gb._native.results`:
//
//   local run = results.new_run {
//     experiment = "batch_size",        -- directory name: letters, digits, "_", "-", "."
//     title = "...",                    -- any text
//     axes = { "device", "batch_size" },
//     columns = { "gap_s" },            -- optional: columns beyond the standard ones, where known before the first row
//     out = ".",                        -- results/ and plots/ are made below it
//   }
//   run:add(row, samples)               -- row: table column -> boolean | number | string (nil: not measurable);
//   samples: array
//                                       -- of step times in seconds, or nil. `experiment`, `point` (1, 2, ...) and
//                                       -- `process` (0) are filled in where the row has none.
//   run:set_info { arguments = {...}, seed = 1, devices = {...} }   -- merged into run.json, top level, field by field
//   run:finish {
//     status = "done",                  -- done | interrupted | error
//     charts = { { kind = "line", x = "batch_size", y = "examples_per_s", series = "device", log_x = 2, log_y = nil,
//                  name = nil, title = nil } },
//     expectations = { { claim = "...", verdict = "confirmed", reason = "..." } },
//   }                                   -- returns { paths = { "results/.../results.csv", ... }, notes = { "gnuplot is
//   not installed: ..." } } run:directory(), run:name(), run:rows()   -- strings; rows: array of the tables that were
//   added, completed results.read(text, out)             -- a run by directory, name or experiment: { directory, info,
//   columns, rows } results.render(text, format, out)   -- format: "text" | "csv" | "json" | "markdown"; returns a
//   string results.table(rows, columns)        -- the aligned text table of any rows; columns optional
//   results.list(out)                   -- array of { experiment, name, directory, title, status, rows }
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
  /// Writes run.json for the last time. status: done, interrupted, error.
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

}  // namespace gpubench
