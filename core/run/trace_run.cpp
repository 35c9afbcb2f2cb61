#include "core/run/trace_run.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "core/diagnose/findings.h"
#include "core/report/page/finish.h"
#include "core/results/run_writer.h"
#include "core/traces/analysis.h"
#include "core/traces/open_traces.h"

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

std::vector<double> step_times(const TraceAnalysis& analysis) {
  std::vector<double> times;
  for (std::size_t i = analysis.steps.first; i < analysis.steps.last; ++i)
    times.push_back(static_cast<double>(analysis.steps.steps[i].length()) * 1e-9);
  return times;
}

}  // namespace

std::filesystem::path write_trace_run(const std::vector<std::filesystem::path>& traces,
                                      const TraceRunOptions& options) {
  OpenedTraces opened = open_traces(traces);
  std::ranges::stable_sort(opened.ranks, {}, &ForeignTrace::rank);
  std::vector<TraceAnalysis> ranks;
  for (ForeignTrace& trace : opened.ranks) ranks.push_back(analyse(std::move(trace), options.step));
  require_work(ranks);

  const bool has_ranks = ranks.size() > 1;
  RunWriter writer({.experiment = name_after(traces.front()),
                    .title = fmt::format("{} of {}", ranks.front().trace.format, traces.front().filename().string()),
                    .axes = has_ranks ? std::vector<std::string>{"rank"} : std::vector<std::string>{},
                    .extra_columns = {},
                    .out = options.out});
  Info::List facts;
  for (const TraceAnalysis& rank : ranks) facts.push_back(facts_of(rank));
  writer.set_info(Info::Fields{{"devices", all_devices(ranks)},
                               {"traces", std::move(facts)},
                               {"trace_notes", Info::List(opened.notes.begin(), opened.notes.end())}});
  const RunFacts run = facts_of(writer.info());
  std::int64_t point = 0;
  for (const TraceAnalysis& rank : ranks) {
    Record row = row_of(rank);
    row.set("point", ++point);
    row.set("process", std::int64_t{0});
    if (has_ranks) row.set("rank", rank.trace.rank >= 0 ? std::int64_t{rank.trace.rank} : point - 1);
    row.set("verdict", diagnose(row, run).verdict());
    writer.add(std::move(row), step_times(rank));
    if (rank.window.length() > 0)
      replace_file(writer.directory() / fmt::format("profile-{}.json", point), to_json(profile_of(rank)));
  }
  finish_run(writer, {});
  return writer.directory();
}

}  // namespace gpubench
