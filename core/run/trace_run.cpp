#include "core/run/trace_run.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "core/diagnose/findings.h"
#include "core/report/page/finish.h"
#include "core/results/host_cause.h"
#include "core/results/run_writer.h"
#include "core/traces/analysis.h"
#include "core/traces/difference.h"
#include "core/traces/open_traces.h"
#include "core/traces/ranks.h"
#include "core/traces/replay.h"

namespace gpubench {
namespace {

/// "resnet50_num_workers_0" of ".../resnet50_num_workers_0.worker0.pt.trace.json.gz", in characters of folders.
std::string name_after(const std::filesystem::path& trace) {
  constexpr std::size_t most = 60;
  std::string name = trace.filename().string();
  if (name.empty()) name = trace.parent_path().filename().string();
  name = name.substr(0, std::min(name.find('.', 1), most));
  for (char& c : name) {
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!is_plain) c = '_';
  }
  return name.empty() || name.front() == '-' ? "trace" + name : name;
}

Info::List all_devices(const std::vector<TraceAnalysis>& ranks) {
  Info::List devices;
  for (const TraceAnalysis& rank : ranks) {
    for (Info& device : devices_of(rank.trace)) {
      const bool is_known =
          std::ranges::any_of(devices, [&](const Info& one) { return one.text("name") == device.text("name"); });
      if (!is_known) devices.push_back(std::move(device));
    }
  }
  return devices;
}

struct Side {
  std::vector<TraceAnalysis> ranks{};
  std::vector<std::string> notes{};

  /// Its step is that of all.
  const TraceAnalysis& slowest() const { return *std::ranges::max_element(ranks, {}, &TraceAnalysis::step_s); }
};

Side read_side(const std::vector<std::filesystem::path>& traces, const AnalysisOptions& options) {
  OpenedTraces opened = open_traces(traces);
  std::ranges::stable_sort(opened.ranks, {}, &ForeignTrace::rank);
  Side side{.notes = std::move(opened.notes)};
  for (ForeignTrace& trace : opened.ranks) side.ranks.push_back(analyse(std::move(trace), options));
  return side;
}

/// What the host does where the first finding says so, as far as a replay can leave it out.
std::optional<HostWork> work_behind(const Diagnosis& diagnosis, const Record& row) {
  if (diagnosis.findings.empty()) return std::nullopt;
  const std::string_view finding = diagnosis.findings.front().rule->name;
  if (finding == "input_bound") return HostWork::input;
  if (finding != "host_bound") return std::nullopt;
  const std::string kind = to_text(row.get("host_cause_kind"));
  if (kind == to_string(HostCauseKind::synchronization)) return HostWork::sync;
  if (kind == to_string(HostCauseKind::allocation)) return HostWork::allocation;
  if (kind == to_string(HostCauseKind::compilation)) return HostWork::compile;
  return std::nullopt;
}

TraceDifference difference_between(const TraceRunOptions& options, const std::vector<std::filesystem::path>& traces,
                                   const Side& side) {
  const Side before = read_side(options.against, {.mark = options.step});
  if (!are_one_range(before.slowest(), side.slowest())) return difference_of(before.slowest(), side.slowest());
  const AnalysisOptions whole{.whole = true};
  return difference_of(read_side(options.against, whole).slowest(), read_side(traces, whole).slowest());
}

}  // namespace

TraceRun write_trace_run(const std::vector<std::filesystem::path>& traces, const TraceRunOptions& options) {
  const Side side = read_side(traces, {.mark = options.step});
  const std::vector<TraceAnalysis>& ranks = side.ranks;
  require_work(ranks);
  std::optional<TraceDifference> difference;
  if (!options.against.empty()) difference = difference_between(options, traces, side);

  const bool has_ranks = ranks.size() > 1;
  RunWriter writer({.experiment = name_after(traces.front()),
                    .title = fmt::format("{} of {}", ranks.front().trace.format, traces.front().filename().string()),
                    .axes = has_ranks ? std::vector<std::string>{"rank"} : std::vector<std::string>{},
                    .extra_columns = {},
                    .out = options.out});
  Info::List facts;
  for (const TraceAnalysis& rank : ranks) facts.push_back(facts_of(rank));
  const RankWaits waits = rank_waits(ranks);
  Info::Fields fields{{"devices", all_devices(ranks)},
                      {"traces", std::move(facts)},
                      {"trace_notes", Info::List(side.notes.begin(), side.notes.end())}};
  if (has_ranks) fields.emplace_back("trace_ranks", waits_info(waits, ranks));
  if (difference) fields.emplace_back("trace_difference", difference_info(*difference));
  writer.set_info(std::move(fields));
  const RunFacts run = facts_of(writer.info());
  std::vector<Record> rows;
  for (const TraceAnalysis& rank : ranks) rows.push_back(row_of(rank));
  set_waits(rows, waits, ranks);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Record& row = rows[i];
    const auto point = static_cast<std::int64_t>(i) + 1;
    row.set("point", point);
    row.set("process", std::int64_t{0});
    if (has_ranks) row.set("rank", ranks[i].trace.rank >= 0 ? std::int64_t{ranks[i].trace.rank} : point - 1);
    const Diagnosis diagnosis = diagnose(row, run);
    row.set("verdict", diagnosis.verdict());
    if (const std::optional<HostWork> cause = work_behind(diagnosis, row); cause && !ranks[i].is_on_cpu) {
      const Replay replay = replay_without(ranks[i], *cause);
      row.set("replayed_step_time_s", replay.step_s);
      row.set("replay_verdict", diagnose(replay.row, run).verdict());
    }
    writer.add(std::move(row), ranks[i].steps.seconds());
    if (ranks[i].window.length() > 0)
      replace_file(writer.directory() / fmt::format("profile-{}.json", point), to_json(profile_of(ranks[i])));
  }
  finish_run(writer, {});
  return {writer.directory(), difference && difference->is_slower};
}

}  // namespace gpubench
