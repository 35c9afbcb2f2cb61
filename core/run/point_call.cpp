#include "core/run/point_call.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

#include "core/results/row_check.h"
#include "core/telemetry/proc/contention.h"

namespace gpubench {
namespace {

/// The first of these that a process has decides for all. A process that was stopped because of another ("peer_lost")
/// does not.
constexpr std::array<std::string_view, 7> causes{"interrupted", "device_lost", "out_of_memory", "timeout",
                                                 "error",       "skipped",     "peer_lost"};

Info plain(const MeasuredRow& one) {
  Info::Fields cells;
  for (const auto& [name, cell] : one.row.cells()) cells.emplace_back(name, cell);
  return Info::Fields{{"row", std::move(cells)}, {"samples", Info::List(one.samples.begin(), one.samples.end())}};
}

MeasuredRow measured_row(const Info& given) {
  MeasuredRow one;
  if (const Info* const row = given.find("row"); row != nullptr && row->fields() != nullptr) {
    for (const auto& [name, value] : *row->fields()) {
      if (value.cell() != nullptr && !is_empty(*value.cell())) one.row.set(name, *value.cell());
    }
  }
  for (const Info& sample : given.items("samples")) {
    if (sample.cell() != nullptr) one.samples.push_back(number_in(*sample.cell()).value_or(NAN));
  }
  return one;
}

/// The rank whose outcome is the reason for all of theirs; the number of ranks where all are well.
std::size_t cause_of(const std::vector<Info>& outcomes) {
  for (const std::string_view status : causes) {
    const auto found = std::ranges::find(outcomes, status, [](const Info& one) { return one.text("status"); });
    if (found != outcomes.end()) return static_cast<std::size_t>(found - outcomes.begin());
  }
  return outcomes.size();
}

bool are_alike(const std::vector<Info>& outcomes) {
  return std::ranges::all_of(outcomes, [&](const Info& one) {
    return one.text("status") == outcomes[0].text("status") && one.text("detail") == outcomes[0].text("detail");
  });
}

}  // namespace

PointCall::PointCall(std::vector<MeasuredRow> rows, Record axes) : rows_(std::move(rows)), axes_(std::move(axes)) {
  for (MeasuredRow& one : rows_) {
    check_returned_row(one.row);
    if (!one.row.has("status")) one.row.set("status", std::string("ok"));
    if (to_text(one.row.get("status")) == "ok") note_not_numbers(one.row);
  }
}

std::vector<Record> PointCall::rows() const {
  std::vector<Record> rows;
  for (const MeasuredRow& one : rows_) rows.push_back(one.row);
  return rows;
}

bool PointCall::has_failed() const {
  return std::ranges::any_of(rows_, [](const MeasuredRow& one) { return to_text(one.row.get("status")) != "ok"; });
}

void PointCall::set_conditions(std::optional<double> lost_share, std::optional<double> clock_hz,
                               const std::optional<std::string>& kept_memory) {
  for (auto& [row, samples, timeline, profile] : rows_) {
    if (lost_share && !row.has("cpu_lost_share")) row.set("cpu_lost_share", *lost_share);
    if (clock_hz && !row.has("cpu_clock_hz")) row.set("cpu_clock_hz", *clock_hz);
    if (kept_memory) set_doubt(row, {DoubtKind::kept_memory, *kept_memory}, "memory_quality");
  }
}

void PointCall::fail(const std::string& status, const std::optional<std::string>& detail) {
  for (MeasuredRow& one : rows_) {
    MeasuredRow failed{axes_};
    failed.row.set("status", status);
    if (detail) failed.row.set("detail", *detail);
    if (one.row.has("process")) failed.row.set("process", one.row.get("process"));
    one = std::move(failed);
  }
}

std::string PointCall::agree(ProcessGroup& group, const std::string& status, const std::optional<std::string>& detail) {
  Info::List own;
  for (const MeasuredRow& one : rows_) own.push_back(plain(one));
  Info outcome = Info::Fields{{"status", status}, {"rows", std::move(own)}};
  if (detail) outcome.set("detail", *detail);
  std::vector<Info> outcomes;
  for (const std::string& text : group.conclude(to_json(outcome), status == "ok" ? "" : detail.value_or(status)))
    outcomes.push_back(parse_json(text, "what another process made of a point"));
  std::vector<MeasuredRow> all;
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    std::vector<MeasuredRow> rows;
    if (rank == static_cast<std::size_t>(group.rank())) {
      rows = std::move(rows_);
    } else {
      for (const Info& one : outcomes[rank].items("rows")) rows.push_back(measured_row(one));
    }
    for (MeasuredRow& one : rows) {
      one.row.set("process", static_cast<std::int64_t>(rank));
      all.push_back(std::move(one));
    }
  }
  rows_ = std::move(all);
  const std::size_t cause = cause_of(outcomes);
  if (cause == outcomes.size()) return "ok";
  const std::string common = outcomes[cause].text("status"), why = outcomes[cause].text("detail");
  fail(common == "device_lost" || common == "peer_lost" ? "error" : common,
       why.empty()           ? std::nullopt
       : are_alike(outcomes) ? std::optional(why)
                             : group.name_of(static_cast<int>(cause)) + ": " + why);
  return common;
}

double PointCall::lost_share() const {
  double lost = 0;
  for (const MeasuredRow& one : rows_) lost = std::max(lost, number_in(one.row.get("cpu_lost_share")).value_or(0));
  return lost;
}

Doubt PointCall::disturbance() const {
  if (lost_share() < disturbed_share) return {};
  return {DoubtKind::busy,
          fmt::format("other programs took {:.0f} % of the processor time that it wanted", 100 * lost_share())};
}

}  // namespace gpubench
