#include "core/results/run_writer.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <iterator>
#include <system_error>
#include <thread>

#include "core/base/error.h"
#include "core/base/program.h"
#include "core/codec/output_file.h"
#include "core/results/append_file.h"
#include "core/results/build_info.h"
#include "core/results/csv.h"
#include "core/results/disk_reserve.h"
#include "core/results/run_directory.h"
#include "core/results/run_fields.h"
#include "core/results/run_reader.h"

namespace gpubench {
namespace {

constexpr std::string_view last_column_before_axes = "process";
// How long a process takes to end, at most, after others have seen that it does.
constexpr std::chrono::milliseconds longest_end{1000}, pause_between_looks{20};
// Bytes that the end of a run adds to run.json, beyond its columns: figures of the process, origins of data, verdicts,
// and notes about what could not be written.
constexpr std::int64_t last_facts_bytes = 20 << 10;
// What must be left of them on a disk that becomes full while the run goes on: the status, and what is lost because
// files take whole pages.
constexpr std::int64_t least_bytes_left = 3 * 4096;

bool contains(const std::vector<Column>& columns, std::string_view name) {
  return std::ranges::find(columns, name, &Column::name) != columns.end();
}

// An axis or an extra column named like a standard one fills that one.
std::vector<Column> all_columns(const RunPlan& plan) {
  for (const std::string& name : plan.axes) check_column_name(name);
  for (const Column& extra : plan.extra_columns) check_column_name(extra.name);
  std::vector<Column> columns;
  for (const Column& standard : standard_columns()) {
    columns.push_back(standard);
    if (standard.name != last_column_before_axes) continue;
    for (const std::string& axis : plan.axes) {
      if (!find_standard_column(axis) && !contains(columns, axis)) columns.push_back(column_of(axis));
    }
  }
  for (const Column& extra : plan.extra_columns) {
    if (!contains(columns, extra.name)) columns.push_back(extra);
  }
  return columns;
}

std::string header_line(const std::vector<Column>& columns) {
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  return csv_line(names);
}

std::string row_line(const std::vector<Column>& columns, const Record& record) {
  std::vector<std::string> fields;
  for (const Column& column : columns) fields.push_back(to_csv(record.get(column.name)));
  return csv_line(fields);
}

std::string sample_lines(const Record& record, std::int64_t round, std::span<const double> step_times) {
  const std::string prefix =
      fmt::format("{},{},{},", to_text(record.get("point")), to_text(record.get("process")), round);
  fmt::memory_buffer lines;
  for (std::size_t step = 0; step < step_times.size(); ++step) {
    fmt::format_to(std::back_inserter(lines), "{}{},{}\r\n", prefix, step + 1, step_times[step]);
  }
  return fmt::to_string(lines);
}

Info described(const Column& column) {
  Info::Fields fields{{"name", column.name}};
  if (column.unit != Unit::none) fields.emplace_back("unit", std::string(to_string(column.unit)));
  if (column.better != Better::neither) fields.emplace_back("better", std::string(to_string(column.better)));
  if (column.kind != Kind::unknown) fields.emplace_back("kind", std::string(to_string(column.kind)));
  if (column.threshold > 0) fields.emplace_back("threshold", column.threshold);
  if (!column.description.empty()) fields.emplace_back("description", std::string(column.description));
  return fields;
}

// Describes the columns that are not empty.
Info column_info(const std::vector<Column>& columns, const std::vector<Record>& records) {
  Info::List list;
  for (const Column& column : columns) {
    if (std::ranges::any_of(records, [&](const Record& record) { return record.has(column.name); }))
      list.push_back(described(column));
  }
  return list;
}

// Bytes of run.json, with all columns.
std::int64_t info_bytes(Info info, const std::vector<Column>& columns) {
  Info::List list;
  for (const Column& column : columns) list.push_back(described(column));
  info.set("columns", std::move(list));
  return static_cast<std::int64_t>(to_json(info).size());
}

std::string now_text() {
  return utc_text(std::chrono::system_clock::now());
}

}  // namespace

RunWriter::RunWriter(RunPlan plan)
    : plan_(std::move(plan)),
      columns_(all_columns(plan_)),
      directory_(make_run_directory(plan_.out, plan_.experiment, std::chrono::system_clock::now())) {
  Info::List axes(plan_.axes.begin(), plan_.axes.end());
  info_ = Info::Fields{{"schema", run_schema},
                       {"experiment", plan_.experiment},
                       {"title", plan_.title},
                       {"run", name()},
                       {"status", std::string(unfinished_status)},
                       {"started", now_text()},
                       {"finished", Info()},
                       {"rows", 0},
                       {"axis_names", std::move(axes)}};
  Info program = build_info();
  program.set("file", program_path().string());
  info_.set("program", std::move(program));
  try {
    make_files();
  } catch (...) {
    std::error_code what_is_left_is_no_run;
    std::filesystem::remove_all(directory_, what_is_left_is_no_run);
    throw;
  }
}

// Readers take a folder for a run once results.csv is there, and for one that died where samples.csv has no lock.
void RunWriter::make_files() {
  samples_file_ = std::make_unique<AppendFile>(directory_ / "samples.csv");
  samples_file_->lock();
  samples_file_->append("point,process,round,step,seconds\r\n");
  reserve_ = std::make_unique<DiskReserve>(directory_);
  keep_space(info_, last_facts_bytes);
  write_info(info_);
  if (!plan_.script.empty()) AppendFile(directory_ / "script.lua").append(plan_.script);
  // With its header at once: a process that is killed in between leaves no run.
  replace_file(directory_ / "results.csv", all_rows());
  rows_file_ = std::make_unique<AppendFile>(directory_ / "results.csv");
}

RunWriter::RunWriter(RunWriter&&) noexcept = default;
RunWriter& RunWriter::operator=(RunWriter&&) noexcept = default;

RunWriter::~RunWriter() {
  if (!rows_file_ || info_.text("status") != unfinished_status) return;
  try {
    finish("error");
  } catch (const std::exception&) {
    // The files say "running", which readers take for a run that died.
  }
}

std::filesystem::path RunWriter::chart_directory() const {
  return plots_root(plan_.out) / plan_.experiment / name();
}

void RunWriter::complete(Record& record) const {
  if (!record.has("experiment")) record.set("experiment", plan_.experiment);
  if (!record.has("point")) record.set("point", static_cast<std::int64_t>(records_.size()) + 1);
  if (!record.has("process")) record.set("process", std::int64_t{0});
  if (!record.has("status")) record.set("status", std::string("ok"));
}

bool RunWriter::widen_for(const Record& record) {
  for (const auto& [name, cell] : record.cells()) check_column_name(name);
  const std::size_t before = columns_.size();
  for (const auto& [name, cell] : record.cells()) {
    if (!contains(columns_, name)) columns_.push_back(column_of(name));
    if (columns_.size() > most_columns)
      throw Error(
          fmt::format("results: the rows have more than {} columns together, the last is '{}'", most_columns, name));
  }
  return columns_.size() > before;
}

std::string RunWriter::all_rows() const {
  std::string text = header_line(columns_);
  for (const Record& record : records_) text += row_line(columns_, record);
  return text;
}

void RunWriter::rewrite() {
  keep_space(info_, least_bytes_left);
  replace_file(directory_ / "results.csv", all_rows());
  rows_file_ = std::make_unique<AppendFile>(directory_ / "results.csv");
}

// A new file in place of the old one is there whole or not at all. Of a large one with short lines, a kill may leave a
// part of the last line, which readers leave out and `gpubench finish` cuts.
bool RunWriter::may_be_rewritten(std::string_view line) const {
  constexpr std::size_t least_bytes = 16 << 10, most_lines = 64;
  return static_cast<std::size_t>(rows_file_->size()) <= most_lines * std::max(line.size(), least_bytes);
}

void RunWriter::add(Record record, std::span<const double> step_times) {
  complete(record);
  const std::vector<Column> columns_before = columns_;
  const std::int64_t samples_before = samples_file_->size();
  const std::size_t records_before = records_.size();
  try {
    // Samples first: a row whose samples are missing would look finished.
    samples_file_->append(sample_lines(record, 1, step_times));
    const bool is_wider = widen_for(record);
    records_.push_back(std::move(record));
    const std::string line = row_line(columns_, records_.back());
    if (is_wider || (rows_file_->may_be_torn(line) && may_be_rewritten(line)))
      rewrite();
    else
      rows_file_->append(line);
  } catch (...) {
    columns_ = columns_before;
    records_.resize(records_before);
    samples_file_->truncate(samples_before);
    throw;
  }
}

void RunWriter::add_round(const Record& record, std::int64_t round, std::int64_t index,
                          std::span<const double> step_times) {
  std::string lines;
  if (!rounds_file_) {
    rounds_file_ = std::make_unique<AppendFile>(directory_ / "rounds.csv");
    lines = "point,process,row,round,column,value\r\n";
  }
  for (const auto& [name, cell] : record.cells()) {
    const Kind kind = column_of(name).kind;
    const bool is_axis = std::ranges::find(plan_.axes, name) != plan_.axes.end();
    if (!number_in(cell) || is_axis || kind == Kind::setting || kind == Kind::extent) continue;
    lines += fmt::format("{},{},{},{},{},{}\r\n", to_text(record.get("point")), to_text(record.get("process")), index,
                         round, name, to_text(cell));
  }
  rounds_file_->append(lines);
  if (round > 1) samples_file_->append(sample_lines(record, round, step_times));
}

void RunWriter::replace(std::vector<Record> records) {
  const std::vector<Record> records_before = records_;
  const std::vector<Column> columns_before = columns_;
  try {
    std::erase_if(records_, [&](const Record& own) {
      return std::ranges::any_of(records, [&](const Record& other) { return other.get("point") == own.get("point"); });
    });
    for (Record& record : records) {
      complete(record);
      widen_for(record);
      records_.push_back(std::move(record));
    }
    rewrite();
  } catch (...) {
    records_ = records_before;
    columns_ = columns_before;
    throw;
  }
}

void RunWriter::set_info(const Info& fields) {
  Info info = info_;
  if (const auto* all = fields.fields()) {
    for (const auto& [name, value] : *all) {
      if (std::ranges::find(run_fields(), name, &RunField::name) == run_fields().end())
        throw Error(fmt::format("results: run.json has no field '{}'; run_fields.cpp declares them", name));
      info.set(name, value);
    }
  }
  keep_space(info, least_bytes_left);
  write_info(info);
  info_ = std::move(info);
}

void RunWriter::finish(const std::string& status) {
  for (Column& column : columns_) {
    const auto holds_text = [&](const Record& record) {
      return std::holds_alternative<std::string>(record.get(column.name));
    };
    if (std::ranges::any_of(records_, holds_text)) column.kind = Kind::text;
  }
  info_.set("status", status);
  info_.set("finished", now_text());
  set_totals(info_, columns_, records_);
  reserve_->release();  // for this and the report
  write_info(info_);
}

void set_totals(Info& info, const std::vector<Column>& columns, const std::vector<Record>& records) {
  info.set("rows", static_cast<std::int64_t>(records.size()));
  info.set("columns", column_info(columns, records));
}

void RunWriter::keep_space(const Info& info, std::int64_t least_left) {
  const std::int64_t last = info_bytes(info, columns_);
  const int error = reserve_->hold(last + last_facts_bytes);
  if (error == 0 || reserve_->held() >= last + least_left) return;
  throw Error(fmt::format("results: cannot reserve the disk space for the end of the run in '{}': {}",
                          directory_.string(), std::generic_category().message(error)));
}

void RunWriter::write_info(const Info& info) {
  const std::filesystem::path path = directory_ / "run.json";
  const std::string text = to_json(info);
  const auto bytes = static_cast<std::int64_t>(text.size());
  const std::int64_t held = reserve_->held();
  try {
    replace_file(path, text);
  } catch (const Error&) {
    // On a full disk, what is held shrinks by as much as the file grows. It must be enough for the last time.
    const std::int64_t left = held + written_info_bytes_ - bytes;
    if (left < info_bytes(info, columns_) + least_bytes_left) throw;
    reserve_->release();
    replace_file(path, text);
    reserve_->hold(left);
  }
  written_info_bytes_ = bytes;
}

bool end_abandoned_run(const std::filesystem::path& directory, const std::string& detail) {
  if (!std::filesystem::exists(directory / "run.json")) return false;
  const RunPlace place = place_of_run(directory, "results");
  refuse_links(place.out, std::filesystem::path("results") / place.experiment / place.name, "results");
  // The process that was lost may still be ending.
  for (int look = 0; lock_of(directory / "samples.csv") == Lock::held; ++look) {
    if (look == longest_end / pause_between_looks) return false;
    std::this_thread::sleep_for(pause_between_looks);
  }
  Run run = read_run(directory);
  const std::string before = run.info.text("status");
  if (before != unfinished_status && before != died_status) return false;
  run.info.set("status", "error");
  run.info.set("detail", detail);
  run.info.set("finished", now_text());
  run.info.set("rows", static_cast<std::int64_t>(run.records.size()));
  replace_file(directory / "run.json", to_json(run.info));
  return true;
}

}  // namespace gpubench
