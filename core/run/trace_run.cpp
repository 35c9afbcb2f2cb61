#include "core/run/trace_run.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "core/base/error.h"
#include "core/report/page/finish.h"
#include "core/results/run_writer.h"
#include "core/run/rank_rows.h"
#include "core/traces/analysis.h"
#include "core/traces/difference.h"
#include "core/traces/open_traces.h"
#include "core/traces/ranks.h"

namespace gpubench {
namespace {

/// "resnet50_num_workers_0" of ".../resnet50_num_workers_0.worker0.pt.trace.json.gz".
std::string name_after(const std::filesystem::path& trace) {
  std::string name = trace.filename().string();
  if (name.empty()) name = trace.parent_path().filename().string();
  return folder_name(name.substr(0, name.find('.', 1)), "trace");
}

Info::List all_devices(const std::vector<TraceAnalysis>& ranks) {
  Info::List devices;
  for (const TraceAnalysis& rank : ranks) add_devices(devices, rank.trace);
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
  std::vector<Record> rows;
  for (const TraceAnalysis& rank : ranks) rows.push_back(row_of(rank));
  set_waits(rows, waits, ranks);
  std::vector<RankRow> rank_rows;
  for (std::size_t i = 0; i < rows.size(); ++i)
    rank_rows.push_back({std::move(rows[i]), &ranks[i], ranks[i].trace.rank, ranks[i].steps.seconds()});
  write_rank_rows(writer, std::move(rank_rows));
  finish_run(writer, {});
  return {writer.directory(), difference && difference->is_slower};
}

}  // namespace gpubench
