// gb._native.results: runs for the experiment library. Every run gets the machine's facts at its start and the
// process's own figures at its end, so no script can forget them.
#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/known_names.h"
#include "core/base/shown_text.h"
#include "core/codec/checksum.h"
#include "core/codec/output_file.h"
#include "core/diagnose/findings.h"
#include "core/history/pending.h"
#include "core/report/text/render.h"
#include "core/report/text/row_stream.h"
#include "core/report/text/run_table.h"
#include "core/report/text/text.h"
#include "core/results/doubt.h"
#include "core/results/mean_over_processes.h"
#include "core/results/row_check.h"
#include "core/results/run_directory.h"
#include "core/results/run_writer.h"
#include "core/results/trace.h"
#include "core/telemetry/proc/environment.h"
#include "core/telemetry/proc/process_probes.h"
#include "lua/api/measure/measured.h"
#include "lua/api/openers.h"
#include "lua/api/output_path.h"
#include "lua/api/results/results_values.h"
#include "lua/api/results/unfinished_runs.h"
#include "lua/api/session.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// "stopped by SIGTERM", where a signal did. Processes that run together hand on SIGINT, whatever came.
std::string reason_to_stop(const ProcessGroup* group) {
  const int signal = interrupt_signal();
  return signal == 0 || (group != nullptr && signal == SIGINT) ? std::string()
                                                               : fmt::format("stopped by SIG{}", sigabbrev_np(signal));
}

/// A run with the probes that watch it. Its files are written by one thread at a time.
class WatchedRun final : public UnfinishedRun {
 public:
  WatchedRun(RunPlan plan, const std::vector<ChartSpec>& charts, std::vector<Expectation> claims, ChartFormats formats,
             Session& session)
      : writer_(std::move(plan)),
        formats_(std::move(formats)),
        group_(session.group()),
        unfinished_(session.unfinished_runs) {
    Info::Fields facts;
    for (const auto& [name, fact] : machine_facts()) {
      facts.emplace_back(name, std::visit([](const auto& value) { return Info(value); }, fact));
    }
    writer_.set_info(Info::Fields{{"machine", std::move(facts)}});
    announce(writer_, charts, std::move(claims));
    unfinished_.add(this);
  }

  /// A run that ends between two points because a process was lost has no row that says so; run.json says it.
  ~WatchedRun() override {
    unfinished_.remove(this);
    if (group_ == nullptr || writer_.info().text("status") != unfinished_status) return;
    try {
      if (const std::string lost = group_->lost(); !lost.empty()) writer_.set_info(Info::Fields{{"detail", lost}});
    } catch (const std::exception&) {
      // A full disk: there is nowhere to say it.
    }
  }
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

  /// The point that is measured next: its axes and number, and what to call it.
  void begin(Record row, const std::string& text) {
    const std::lock_guard lock(mutex_);
    begun_.emplace(std::move(row), text);
  }
  /// `timeline` and `profile` go into files of their own, named after the row's point.
  void add(Record record, const std::optional<std::vector<double>>& samples,
           const std::optional<std::shared_ptr<Timeline>>& timeline, const std::optional<Info>& profile) {
    const std::lock_guard lock(mutex_);
    begun_.reset();
    writer_.add(std::move(record), samples.value_or(std::vector<double>{}));
    if (timeline) write_chrome_trace(**timeline, file_of_point("trace"));
    if (profile) replace_file(file_of_point("profile"), to_json(*profile));
  }
  void add_round(const Record& record, std::int64_t round, std::int64_t index,
                 const std::optional<std::vector<double>>& samples) {
    const std::lock_guard lock(mutex_);
    begun_.reset();
    writer_.add_round(record, round, index, samples.value_or(std::vector<double>{}));
  }
  void replace(std::vector<Record> rows) {
    const std::lock_guard lock(mutex_);
    writer_.replace(std::move(rows));
  }
  void set_info(const Info& fields) {
    if (!fields.fields()) throw ArgumentError("table with named fields expected");
    const std::lock_guard lock(mutex_);
    writer_.set_info(fields);
  }
  FinishedRun finish(const FinishOptions& options) {
    const std::lock_guard lock(mutex_);
    set_last_facts(options.status == "interrupted" ? reason_to_stop(group_) : std::string());
    FinishedRun finished = finish_run(writer_, {options.status,
                                                {options.charts.begin(), options.charts.end()},
                                                {options.expectations.begin(), options.expectations.end()},
                                                formats_});
    mark_for_night(writer_.directory(), writer_.info());
    return finished;
  }
  std::string give_up(const GivenUp& how) noexcept override {
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
      for (const std::string& note : finish_unjudged(writer_, how.status, formats_).notes)
        text += one_line(note) + "\n";
      mark_for_night(writer_.directory(), writer_.info());
    } catch (const std::exception& error) {
      text += one_line(error.what()) + "\n";
    }
    return text;
  }
  std::string directory() const { return writer_.directory().string(); }
  std::string name() const { return writer_.name(); }
  std::string opening(const TextOptions& style) {
    rows_.emplace(writer_.info(), style);
    return opening_text(run(), style);
  }
  std::string row_text(const Record& row, std::size_t width) {
    return rows_.value().text_of(row, writer_.columns(), width);
  }
  std::string closing(const TextOptions& style) const { return closing_text(run(), style, rows_.value().headings()); }
  std::vector<Record> rows() const { return writer_.records(); }

  /// The verdict on the figures that a row ends up with: rounds are merged, and scripts may change columns.
  std::optional<std::string> verdict(const Record& row) const {
    if (has_steps(row)) return diagnose(row, facts_of(writer_.info())).verdict();
    return row.has("verdict") ? std::optional(to_text(row.get("verdict"))) : std::nullopt;
  }

 private:
  Run run() const { return {writer_.directory(), writer_.columns(), writer_.records(), writer_.info()}; }

  /// "trace-3.json" for the first row of point 3 that was traced, "trace-3-2.json" for its second; also of a profile.
  std::filesystem::path file_of_point(std::string_view what) const {
    const auto point = std::get<std::int64_t>(writer_.records().back().get("point"));
    std::filesystem::path file;
    for (int number = 1; file.empty() || std::filesystem::exists(file); ++number) {
      file = writer_.directory() /
             (number == 1 ? fmt::format("{}-{}.json", what, point) : fmt::format("{}-{}-{}.json", what, point, number));
    }
    return file;
  }

  void set_last_facts(const std::string& detail) {
    Info::Fields readings;
    read_into(readings, cpu_);
    read_into(readings, memory_);
    Info::Fields facts{{"process", std::move(readings)}};
    if (!detail.empty()) facts.emplace_back("detail", detail);
    writer_.set_info(facts);
  }

  static void read_into(Info::Fields& readings, Probe& probe) {
    std::vector<double> values(probe.columns().size());
    probe.read(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) continue;
      const std::string_view name = probe.columns()[i];
      const bool whole = column_of(name).unit == Unit::bytes;
      readings.emplace_back(name, whole ? Info(static_cast<std::int64_t>(values[i])) : Info(values[i]));
    }
  }

  RunWriter writer_;
  ChartFormats formats_;
  const ProcessGroup* group_;
  UnfinishedRuns& unfinished_;
  std::mutex mutex_;
  std::optional<std::pair<Record, std::string>> begun_;
  std::optional<RowStream> rows_;
  CpuProbe cpu_;
  MemoryProbe memory_;
};

std::shared_ptr<WatchedRun> new_run(lua_State* L, RunOptions options) {
  for (const std::filesystem::path& root : {results_root(options.out), plots_root(options.out)})
    output_path(L, (root / options.experiment).string(), "results");
  RunPlan plan{.experiment = std::move(options.experiment),
               .title = std::move(options.title),
               .axes = std::move(options.axes),
               .extra_columns = {options.columns.begin(), options.columns.end()},
               .out = std::move(options.out),
               .script = session_of(L).options().script_text};
  const std::vector<ChartSpec> charts(options.charts.begin(), options.charts.end());
  return std::make_shared<WatchedRun>(std::move(plan), charts,
                                      std::vector<Expectation>(options.claims.begin(), options.claims.end()),
                                      std::move(options.chart_formats), session_of(L));
}

/// end_abandoned(directory, detail): ends the record of a run whose own process is lost.
bool end_abandoned(lua_State* L, const std::string& directory, const std::string& detail) {
  return end_abandoned_run(output_path(L, directory, "results"), detail);
}

/// checksum(text): tells whether a text is another one.
std::string text_checksum(const std::string& text) {
  return fmt::format("{:08x}", crc32c(std::as_bytes(std::span(text))));
}

/// json(value): in one line.
std::string json_line(const Info& info) {
  return to_json_line(info);
}

/// What tables and charts call a column: "examples/s".
std::string heading(const std::string& name) {
  return heading_of(column_of(name));
}

// The columns that rows have: standard ones in their order, then the others by name.
std::vector<Column> columns_in(const std::vector<Record>& rows) {
  std::vector<Column> columns(standard_columns().begin(), standard_columns().end());
  std::vector<std::string> others;
  for (const Record& row : rows) {
    for (const auto& [name, cell] : row.cells()) {
      if (!find_standard_column(name)) others.push_back(name);
    }
  }
  std::ranges::sort(others);
  others.erase(std::unique(others.begin(), others.end()), others.end());
  for (const std::string& name : others) columns.push_back(column_of(name));
  return columns;
}

/// The text table of any rows. Named columns are shown in their order, whether or not they say something.
std::string table(const std::vector<Record>& rows, const std::optional<std::vector<std::string>>& names) {
  if (!names) return render_text(run_table(columns_in(rows), rows, {}, Detail::brief).table);
  std::vector<Column> columns;
  for (const std::string& name : *names) columns.push_back(column_of(name));
  return render_text(run_table(columns, rows, *names, Detail::brief).table);
}

bool may_be_axis(const std::string& name) {
  return gpubench::may_be_axis(name);
}

template <class T>
T returned(lua_State* L, int index, const char* what) {
  try {
    if (!Value<T>::matches(L, index)) mismatch(L, index, Value<T>::expected());
    return Value<T>::read(L, index);
  } catch (const ArgumentError& error) {
    throw Error(fmt::format("run returned {}: {}", what, error.what()));
  }
}

/// check_row(row, samples, timeline, profile): throws for what WatchedRun::add() would not take, and for cells that the
/// program's columns do not take.
int check_row(lua_State* L) {
  const auto row = returned<Record>(L, 1, "a column that is no cell");
  check_returned_row(row);
  if (!lua_isnoneornil(L, 2)) returned<std::vector<double>>(L, 2, "samples that are no step times");
  if (!lua_isnoneornil(L, 3)) returned<std::shared_ptr<Timeline>>(L, 3, "a timeline that gb.measure has not made");
  if (!lua_isnoneornil(L, 4)) returned<Info>(L, 4, "a profile that gb.measure has not made");
  return 0;
}

/// check_axis_value(name, value): throws for a value that a standard column of this name does not take.
void check_axis_value(const std::string& name, const Cell& value) {
  check_cell(name, value, "gb.experiment: the axis has");
}

/// check_column(column): throws for a unit, direction or kind that there is not.
void check_column(const ColumnOptions& column) {
  check_column_name(column.name);
}

Column column(const std::string& name) {
  return column_of(name);
}

/// threshold("3 %"): 0.03
double threshold(const std::string& text) {
  return parse_threshold(text);
}

/// The column that says whether figures of this kind can be relied on; nil where nothing disturbs them.
std::optional<std::string> quality(const std::string& kind) {
  const std::string_view name = quality_column(parse_kind(kind));
  return name.empty() ? std::nullopt : std::optional<std::string>(name);
}

/// doubts(): for each kind of doubt, by name, { why, remedy, remedy_if_learned }, whose texts may be empty.
Info all_doubts() {
  Info::Fields kinds;
  for (const DoubtWords& one : doubt_words()) {
    if (one.kind == DoubtKind::none) continue;
    kinds.emplace_back(std::string(one.name),
                       Info::Fields{{"why", std::string(one.why)},
                                    {"remedy", std::string(one.remedy)},
                                    {"remedy_if_learned",
                                     std::string(one.remedy_if_learned.empty() ? one.remedy : one.remedy_if_learned)}});
  }
  return kinds;
}

/// doubt(quality, kind): { kind, text } of the cells of a quality and of its kind; nil where there is no doubt.
std::optional<Info> doubt(const std::optional<std::string>& quality, const std::optional<std::string>& kind) {
  const Doubt one = read_doubt(quality.value_or(""), kind.value_or(""));
  if (!one) return std::nullopt;
  return Info::Fields{{"kind", std::string(to_string(one.kind))}, {"text", one.text}};
}

/// quality_text(text): the cell of a quality with this sentence.
std::string doubted(const std::string& text) {
  return quality_text(text);
}

/// means(rows): of rows of several processes, their means, which claims are about.
std::vector<Record> means(const std::vector<Record>& rows) {
  return mean_over_processes(rows);
}

/// " (did you mean 'fit'?)", or "".
std::string similar(const std::string& word, const std::vector<std::string>& candidates) {
  return suggestion(word, names_of(candidates));
}

std::string end_of_interval(const std::string& name, const std::string& end) {
  return interval_end(column_of(name), end);
}

/// shorten(text, width): at most `width` columns of a terminal, cut at the end.
std::string end_left_out(const std::string& text, int width) {
  return shorten(text, static_cast<std::size_t>(std::max(width, 0)));
}

/// shorten_middle(text, width): at most `width` columns of a terminal.
std::string middle_left_out(const std::string& text, std::int64_t width) {
  return shorten_middle(text, static_cast<std::size_t>(std::max<std::int64_t>(width, 0)));
}

std::string one_line_of(const std::string& text) {
  return one_line(text);
}

/// message(text): a message of several lines, such as a traceback, without what a terminal would execute.
std::string message_of(const std::string& text) {
  return shown_message(text);
}

}  // namespace

template <>
inline constexpr const char* class_name<WatchedRun> = "Run";

void open_results(lua_State* L) {
  Class<WatchedRun>(L)
      .method<&WatchedRun::begin>("begin")
      .method<&WatchedRun::add_round>("add_round")
      .method<&WatchedRun::replace>("replace")
      .method<&WatchedRun::add>("add")
      .method<&WatchedRun::verdict>("verdict")
      .method<&WatchedRun::set_info>("set_info")
      .method<&WatchedRun::finish>("finish")
      .method<&WatchedRun::directory>("directory")
      .method<&WatchedRun::name>("name")
      .method<&WatchedRun::rows>("rows")
      .method<&WatchedRun::opening>("opening")
      .method<&WatchedRun::row_text>("row_text")
      .method<&WatchedRun::closing>("closing");
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module results = native.submodule("results");
  results.function<&new_run>("new_run")
      .function<&end_abandoned>("end_abandoned")
      .function<&table>("table")
      .function<&may_be_axis>("may_be_axis")
      .function<&check_row, 4>("check_row")
      .function<&check_axis_value>("check_axis_value")
      .function<&column>("column")
      .function<&heading>("heading")
      .function<&json_line>("json")
      .function<&text_checksum>("checksum")
      .function<&check_column>("check_column")
      .function<&threshold>("threshold")
      .function<&quality>("quality_column")
      .function<&all_doubts>("doubts")
      .function<&doubt>("doubt")
      .function<&doubted>("quality_text")
      .function<&means>("means")
      .function<&similar>("suggestion")
      .function<&end_of_interval>("interval_end")
      .function<&middle_left_out>("shorten_middle")
      .function<&end_left_out>("shorten")
      .function<&one_line_of>("one_line")
      .function<&message_of>("message");
}

}  // namespace gpubench::lua
