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

LiveRun::LiveRun(RunPlan plan, const std::vector<ChartSpec>& charts, std::vector<Expectation> claims,
                 ChartFormats formats, const ProcessGroup* group, UnfinishedRuns& unfinished)
    : writer_(std::move(plan)), formats_(std::move(formats)), group_(group), unfinished_(unfinished) {
  Info::Fields facts;
  for (const auto& [name, fact] : machine_facts()) {
    facts.emplace_back(name, std::visit([](const auto& value) { return Info(value); }, fact));
  }
  writer_.set_info(Info::Fields{{"machine", std::move(facts)}});
  announce(writer_, charts, std::move(claims));
  unfinished_.add(this);
}

LiveRun::~LiveRun() {
  unfinished_.remove(this);
  if (group_ == nullptr || writer_.info().text("status") != unfinished_status) return;
  try {
    if (const std::string lost = group_->lost(); !lost.empty()) writer_.set_info(Info::Fields{{"detail", lost}});
  } catch (const std::exception&) {
    // A full disk: there is nowhere to say it.
  }
}

void LiveRun::begin(Record row, const std::string& text) {
  const std::lock_guard lock(mutex_);
  begun_.emplace(std::move(row), text);
}

void LiveRun::add(Record row, const RowExtras& extras) {
  const std::lock_guard lock(mutex_);
  begun_.reset();
  writer_.add(std::move(row), extras.samples);
  if (extras.timeline) write_chrome_trace(*extras.timeline, file_of_point("trace"));
  if (extras.profile) replace_file(file_of_point("profile"), to_json(*extras.profile));
}

void LiveRun::add_round(const Record& row, std::int64_t round, std::int64_t index, const std::vector<double>& samples) {
  const std::lock_guard lock(mutex_);
  begun_.reset();
  writer_.add_round(row, round, index, samples);
}

void LiveRun::replace(std::vector<Record> rows) {
  const std::lock_guard lock(mutex_);
  writer_.replace(std::move(rows));
}

void LiveRun::set_info(const Info& fields) {
  const std::lock_guard lock(mutex_);
  writer_.set_info(fields);
}

FinishedRun LiveRun::finish(const std::string& status, std::vector<ChartSpec> charts,
                            std::vector<Expectation> expectations) {
  const std::lock_guard lock(mutex_);
  set_last_facts(status == "interrupted" ? reason_to_stop(group_) : std::string());
  FinishedRun finished = finish_run(writer_, {status, std::move(charts), std::move(expectations), formats_});
  mark_for_night(writer_.directory(), writer_.info());
  return finished;
}

std::string LiveRun::give_up(const GivenUp& how) noexcept {
  mutex_.lock();  // for ever
  if (writer_.info().text("status") != unfinished_status) return {};
  std::string text;
  try {
    if (how.timeout && begun_) {
      begun_->first.set("status", std::string("timeout"));
      begun_->first.set("detail", *how.timeout);
      writer_.replace({begun_->first});  // it may have a row of its first round
      text = one_line(fmt::format("{}: timeout: {}", begun_->second, *how.timeout)) + "\n";
    }
    try {
      set_last_facts(how.detail);
    } catch (const Error& error) {
      text += one_line(error.what()) + "\n";  // on a full disk, the status matters more
    }
    for (const std::string& note : finish_unjudged(writer_, how.status, formats_).notes) text += one_line(note) + "\n";
    mark_for_night(writer_.directory(), writer_.info());
  } catch (const std::exception& error) {
    text += one_line(error.what()) + "\n";
  }
  return text;
}

std::optional<std::string> LiveRun::verdict(const Record& row) const {
  if (has_steps(row)) return diagnose(row, facts_of(writer_.info())).verdict();
  return row.has("verdict") ? std::optional(to_text(row.get("verdict"))) : std::nullopt;
}

std::string LiveRun::opening(const TextStyle& style) {
  rows_.emplace(writer_.info(), style);
  return opening_text(run(), style);
}

std::string LiveRun::row_text(const Record& row, std::size_t width) {
  return rows_.value().text_of(row, writer_.columns(), width);
}

std::string LiveRun::closing(const TextStyle& style) const {
  return closing_text(run(), style, rows_.value().headings());
}

/// "trace-3.json" for the first row of point 3 that was traced, "trace-3-2.json" for its second; also of a profile.
std::filesystem::path LiveRun::file_of_point(std::string_view what) const {
  const auto point = std::get<std::int64_t>(writer_.records().back().get("point"));
  std::filesystem::path file;
  for (int number = 1; file.empty() || std::filesystem::exists(file); ++number) {
    file = writer_.directory() /
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
  writer_.set_info(facts);
}

}  // namespace gpubench
