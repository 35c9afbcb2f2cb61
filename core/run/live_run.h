// A run while it goes on: the points that are measured and their rows, the run's files, the probes that watch it, and
// how it ends, with its script or without. Rows come in once, as calls of `run`, and are merged and judged here. Every
// run gets the machine's facts at its start and the process's own figures at its end, so that no script can forget
// them.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/group/process_group.h"
#include "core/report/page/finish.h"
#include "core/report/text/row_stream.h"
#include "core/results/run_writer.h"
#include "core/run/point_call.h"
#include "core/run/point_rounds.h"
#include "core/run/unfinished_runs.h"
#include "core/telemetry/proc/process_probes.h"

namespace gpubench {

/// A point whose rounds are over; `too_long`: why it has too few.
struct FinalPoint {
  std::int64_t point = 0;
  std::optional<std::string> too_long = {};
};

struct FinishedPoint {
  std::vector<Record> rows;
  /// If its times do not count because others disturbed it: the largest share of the processor time that they took.
  double lost_share = 0;
};

/// A row that claims are about: the mean over the processes, with what its rounds gave.
struct JudgedRow {
  Record row;
  std::vector<RowOfRound> rounds;
  /// Whether others disturbed a round.
  bool is_busy = false;
};

/// Its files are written by one thread at a time; another one may end it at any moment (give_up()). Of processes that
/// run together, process 0 writes; in the others the run has rows, and no files.
class LiveRun final : public UnfinishedRun {
 public:
  /// Makes the run's folder and writes what is known at its start. `figures`: the columns that claims and charts are
  /// about. `group`: the processes that run together; nullptr: there is one. `unfinished` and `group` must outlive the
  /// run.
  LiveRun(const RunPlan& plan, const std::vector<std::string>& figures, const std::vector<ChartSpec>& charts,
          std::vector<Expectation> claims, ChartFormats formats, const ProcessGroup* group, UnfinishedRuns& unfinished);
  /// A run that ends between two points because a process was lost has no row that says so; run.json says it.
  ~LiveRun() override;
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  /// The point that is measured next: its axes and number, and what to call it.
  void begin(Record row, const std::string& text);
  /// Keeps the rows of a call, of which `planned` are to come; `seconds`: what the calls of the point took so far. Rows
  /// of the first one are on disk afterwards, and what each of several measured. Throws Error if they cannot be
  /// written.
  const PointRounds& take(const PointCall& call, std::int64_t point, std::int64_t planned, double seconds);
  /// The rows of points that were measured in turn; they replace those on disk. Throws Error if they cannot be written.
  std::vector<FinishedPoint> finish_points(std::int64_t planned, const std::vector<FinalPoint>& points);
  /// Merges named fields into run.json. `warnings` (texts) stand above all else in the report.
  void set_info(const Info& fields);
  /// `charts` and `expectations` as in run.json; `status`: "done", "interrupted" or "error".
  FinishedRun finish(const std::string& status, std::vector<ChartSpec> charts, std::vector<Expectation> expectations);
  std::string give_up(const GivenUp& how) noexcept override;

  /// Empty where the run has no files.
  std::string directory() const { return writer_ ? writer_->directory().string() : ""; }
  std::string name() const { return writer_ ? writer_->name() : ""; }
  /// In the order in which the points were measured.
  std::vector<Record> rows() const;
  std::vector<JudgedRow> judged_rows() const;

  /// What a run prints above its rows, of a point (nothing of one without rows), and below them. The first one comes
  /// first.
  std::string opening(const TextStyle& style);
  std::string point_text(std::int64_t point, std::size_t width);
  std::string closing(const TextStyle& style) const;

 private:
  /// The rounds of a point, and its rows as they were written last.
  struct Point {
    PointRounds rounds;
    std::vector<Record> rows;
  };
  Run run() const { return {writer_->directory(), writer_->columns(), writer_->records(), writer_->info()}; }
  Point& point_of(std::int64_t number);
  /// With why the device was not busy, by the figures that a row ends up with (rounds are merged, and scripts may
  /// change columns); a row without measured steps keeps its own cell.
  std::vector<Record> judged(std::vector<Record> rows) const;
  /// The rows of the first call, with what goes into files of their own.
  void write_first(Point& point, std::int64_t planned, const std::vector<MeasuredRow>& measured);
  void write_round(const Point& point, const std::vector<MeasuredRow>& measured);
  std::filesystem::path file_of_point(std::string_view what, std::int64_t point) const;
  void set_last_facts(const std::string& detail);

  std::optional<RunWriter> writer_;
  std::string experiment_;
  SweepColumns columns_;
  ChartFormats formats_;
  const ProcessGroup* group_;
  UnfinishedRuns& unfinished_;
  std::mutex mutex_;
  std::optional<std::pair<Record, std::string>> begun_;
  std::vector<Point> points_;
  std::map<std::int64_t, std::size_t> places_;  // in points_, by number
  std::optional<RowStream> row_stream_;
  CpuProbe cpu_;
  MemoryProbe memory_;
};

}  // namespace gpubench
