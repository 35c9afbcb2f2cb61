#include "core/run/live_run.h"

#include <cmath>
#include <csignal>
#include <cstring>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/codec/output_file.h"
#include "core/diagnose/findings.h"
#include "core/history/pending.h"
#include "core/report/text/render.h"
#include "core/report/text/text.h"
#include "core/results/mean_over_processes.h"
#include "core/results/run_directory.h"
#include "core/results/trace.h"
#include "core/telemetry/proc/environment.h"

namespace gpubench {
namespace {

/// "stopped by SIGTERM", where a signal did. Processes that run together hand on SIGINT, whatever came.
std::string reason_to_stop(const ProcessGroup* group) {
  const int signal = interrupt_signal();
  return signal == 0 || (group != nullptr && signal == SIGINT) ? std::string()
                                                               : fmt::format("stopped by SIG{}", sigabbrev_np(signal));
}

void read_into(Info::Fields& readings, Probe& probe) {
  std::vector<double> values(probe.columns().size());
  probe.read(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    const std::string_view name = probe.columns()[i];
    const bool whole = column_of(name).unit == Unit::bytes;
    readings.emplace_back(name, whole ? Info(static_cast<std::int64_t>(values[i])) : Info(values[i]));
  }
}

}  // namespace

LiveRun::LiveRun(const RunPlan& plan, const std::vector<std::string>& figures, const std::vector<ChartSpec>& charts,
                 std::vector<Expectation> claims, ChartFormats formats, const ProcessGroup* group,
                 UnfinishedRuns& unfinished)
    : experiment_(plan.experiment),
      columns_{{plan.axes.begin(), plan.axes.end()}, {}, {figures.begin(), figures.end()}},
      formats_(std::move(formats)),
      group_(group),
      unfinished_(unfinished) {
  for (const Column& column : plan.extra_columns) columns_.own.emplace(column.name, column);
  if (group_ != nullptr && group_->rank() > 0) return;
  writer_.emplace(plan);
  Info::Fields facts;
  for (const auto& [name, fact] : machine_facts()) {
    facts.emplace_back(name, std::visit([](const auto& value) { return Info(value); }, fact));
  }
  writer_->set_info(Info::Fields{{"machine", std::move(facts)}});
  announce(*writer_, charts, std::move(claims));
  unfinished_.add(this);
}

LiveRun::~LiveRun() {
  unfinished_.remove(this);
  if (group_ == nullptr || !writer_ || writer_->info().text("status") != unfinished_status) return;
  try {
    if (const std::string lost = group_->lost(); !lost.empty()) writer_->set_info(Info::Fields{{"detail", lost}});
  } catch (const std::exception&) {
    // A full disk: there is nowhere to say it.
  }
}

void LiveRun::begin(Record row, const std::string& text) {
  const std::lock_guard lock(mutex_);
  begun_.emplace(std::move(row), text);
}

LiveRun::Point& LiveRun::point_of(std::int64_t number) {
  const auto [place, is_new] = places_.emplace(number, points_.size());
  if (is_new) points_.push_back({PointRounds(number, columns_), {}});
  return points_[place->second];
}

const PointRounds& LiveRun::take(const PointCall& call, std::int64_t number, std::int64_t planned, double seconds) {
  const std::lock_guard lock(mutex_);
  begun_.reset();
  Point& point = point_of(number);
  point.rounds.add(call, seconds);
  if (point.rounds.size() == 1) write_first(point, planned, call.measured());
  if (planned > 1 && point.rounds.failed().empty()) write_round(point, call.measured());
  return point.rounds;
}

void LiveRun::write_first(Point& point, std::int64_t planned, const std::vector<MeasuredRow>& measured) {
  std::vector<Record> rows = judged(point.rounds.merged(planned));
  for (std::size_t index = 0; index < rows.size(); ++index) {
    const auto& [row, samples, timeline, profile] = measured[index];
    if (writer_) {
      writer_->add(rows[index], samples);
      if (timeline) write_chrome_trace(*timeline, file_of_point("trace", point.rounds.number()));
      if (profile) replace_file(file_of_point("profile", point.rounds.number()), to_json(*profile));
    }
    point.rows.push_back(std::move(rows[index]));
  }
}

void LiveRun::write_round(const Point& point, const std::vector<MeasuredRow>& measured) {
  if (!writer_) return;
  const auto round = static_cast<std::int64_t>(point.rounds.size());
  std::int64_t index = 0;
  for (const MeasuredRow& one : measured) {
    Record row = one.row;
    row.set("point", point.rounds.number());
    if (!row.has("process")) row.set("process", std::int64_t{0});
    writer_->add_round(row, round, ++index, one.samples);
  }
}

std::vector<FinishedPoint> LiveRun::finish_points(std::int64_t planned, const std::vector<FinalPoint>& points) {
  const std::lock_guard lock(mutex_);
  std::vector<FinishedPoint> finished;
  std::vector<Record> all;
  for (const FinalPoint& one : points) {
    FinishedPoint& done = finished.emplace_back();
    if (!places_.contains(one.point)) continue;  // the sweep has ended before its first call
    const Point& point = point_of(one.point);
    done.rows = planned > 1 ? judged(point.rounds.merged(planned, one.too_long)) : point.rows;
    if (!done.rows.empty() && doubt_in(done.rows.front())) done.lost_share = point.rounds.worst_lost_share();
    all.insert(all.end(), done.rows.begin(), done.rows.end());
  }
  if (planned == 1 || all.empty()) return finished;
  if (writer_) writer_->replace(std::move(all));
  for (std::size_t index = 0; index < points.size(); ++index) {
    if (!finished[index].rows.empty()) point_of(points[index].point).rows = finished[index].rows;
  }
  return finished;
}

void LiveRun::set_info(const Info& fields) {
  const std::lock_guard lock(mutex_);
  writer_.value().set_info(fields);
}

FinishedRun LiveRun::finish(const std::string& status, std::vector<ChartSpec> charts,
                            std::vector<Expectation> expectations) {
  const std::lock_guard lock(mutex_);
  RunWriter& writer = writer_.value();
  set_last_facts(status == "interrupted" ? reason_to_stop(group_) : std::string());
  FinishedRun finished = finish_run(writer, {status, std::move(charts), std::move(expectations), formats_});
  mark_for_night(writer.directory(), writer.info());
  return finished;
}

std::string LiveRun::give_up(const GivenUp& how) noexcept {
  mutex_.lock();  // for ever
  if (writer_->info().text("status") != unfinished_status) return {};
  std::string text;
  try {
    if (how.timeout && begun_) {
      begun_->first.set("status", std::string("timeout"));
      begun_->first.set("detail", *how.timeout);
      writer_->replace({begun_->first});  // it may have a row of its first round
      text = one_line(fmt::format("{}: timeout: {}", begun_->second, *how.timeout)) + "\n";
    }
    try {
      set_last_facts(how.detail);
    } catch (const Error& error) {
      text += one_line(error.what()) + "\n";  // on a full disk, the status matters more
    }
    for (const std::string& note : finish_unjudged(*writer_, how.status, formats_).notes) text += one_line(note) + "\n";
    mark_for_night(writer_->directory(), writer_->info());
  } catch (const std::exception& error) {
    text += one_line(error.what()) + "\n";
  }
  return text;
}

std::vector<Record> LiveRun::judged(std::vector<Record> rows) const {
  for (Record& row : rows) {
    if (!writer_ || !has_steps(row)) continue;
    const std::optional<std::string> verdict = diagnose(row, facts_of(writer_->info())).verdict();
    row.set("verdict", verdict ? Cell(*verdict) : Cell());
  }
  return rows;
}

std::vector<Record> LiveRun::rows() const {
  std::vector<Record> rows;
  for (const Point& point : points_) {
    for (Record row : point.rows) {
      row.set("experiment", experiment_);
      if (!row.has("process")) row.set("process", std::int64_t{0});
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<JudgedRow> LiveRun::judged_rows() const {
  std::vector<JudgedRow> judged;
  std::map<std::int64_t, std::size_t> count;  // by point
  for (Record& row : mean_over_processes(rows())) {
    const auto number = std::get<std::int64_t>(row.get("point"));
    const PointRounds& rounds = points_[places_.at(number)].rounds;
    judged.push_back({std::move(row), rounds.rounds_of(count[number]++), rounds.worst_lost_share() > 0});
  }
  return judged;
}

std::string LiveRun::opening(const TextStyle& style) {
  row_stream_.emplace(writer_.value().info(), style);
  return opening_text(run(), style);
}

std::string LiveRun::point_text(std::int64_t point, std::size_t width) {
  RowStream& stream = row_stream_.value();
  std::string text;
  const auto place = places_.find(point);
  if (place == places_.end()) return text;
  for (const Record& row : points_[place->second].rows) text += stream.text_of(row, writer_->columns(), width);
  return text;
}

std::string LiveRun::closing(const TextStyle& style) const {
  return closing_text(run(), style, row_stream_.value().headings());
}

/// "trace-3.json" for the first row of point 3 that was traced, "trace-3-2.json" for its second; also of a profile.
std::filesystem::path LiveRun::file_of_point(std::string_view what, std::int64_t point) const {
  std::filesystem::path file;
  for (int number = 1; file.empty() || std::filesystem::exists(file); ++number) {
    file = writer_->directory() /
           (number == 1 ? fmt::format("{}-{}.json", what, point) : fmt::format("{}-{}-{}.json", what, point, number));
  }
  return file;
}

void LiveRun::set_last_facts(const std::string& detail) {
  Info::Fields readings;
  read_into(readings, cpu_);
  read_into(readings, memory_);
  Info::Fields facts{{"process", std::move(readings)}};
  if (!detail.empty()) facts.emplace_back("detail", detail);
  writer_->set_info(facts);
}

}  // namespace gpubench
