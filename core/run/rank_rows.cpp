#include "core/run/rank_rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "core/codec/output_file.h"
#include "core/diagnose/findings.h"
#include "core/results/host_cause.h"
#include "core/traces/replay.h"

namespace gpubench {
namespace {

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

}  // namespace

std::string folder_name(std::string_view name, std::string_view otherwise) {
  constexpr std::size_t most = 60;
  std::string plain(name.substr(0, most));
  for (char& c : plain) {
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!is_plain) c = '_';
  }
  return plain.empty() || plain.front() == '-' ? std::string(otherwise) + plain : plain;
}

void add_devices(Info::List& devices, const ForeignTrace& trace) {
  for (Info& device : devices_of(trace))
    if (std::ranges::none_of(devices, [&](const Info& one) { return one.text("name") == device.text("name"); }))
      devices.push_back(std::move(device));
}

void write_rank_rows(RunWriter& writer, std::vector<RankRow> ranks) {
  const RunFacts run = facts_of(writer.info());
  const bool has_ranks = ranks.size() > 1;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    RankRow& rank = ranks[i];
    Record& row = rank.row;
    const auto point = static_cast<std::int64_t>(i) + 1;
    row.set("point", point);
    row.set("process", std::int64_t{0});
    if (has_ranks) row.set("rank", rank.rank >= 0 ? std::int64_t{rank.rank} : point - 1);
    const Diagnosis diagnosis = diagnose(row, run);
    row.set("verdict", diagnosis.verdict());
    if (rank.trace != nullptr && !rank.trace->is_on_cpu) {
      if (const std::optional<HostWork> cause = work_behind(diagnosis, row)) {
        const Replay replay = replay_without(*rank.trace, *cause);
        row.set("replayed_step_time_s", replay.step_s);
        row.set("replay_verdict", diagnose(replay.row, run).verdict());
      }
    }
    writer.add(std::move(row), rank.step_times);
    if (rank.trace != nullptr && rank.trace->window.length() > 0)
      replace_file(writer.directory() / fmt::format("profile-{}.json", point), to_json(profile_of(*rank.trace)));
  }
}

}  // namespace gpubench
