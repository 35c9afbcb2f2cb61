#include "core/compare/match.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/shown_text.h"

namespace gpubench {
namespace {

RowKey key_of_record(const MeasuringProcess& process, const Record& record) {
  RowKey key;
  key.experiment = record.has("experiment") ? to_text(record.get("experiment")) : process.info.text("experiment");
  for (const std::string& axis : process.axes) key.axes.emplace_back(axis, to_text(record.get(axis)));
  return key;
}

/// Equal for equal settings, whatever the order of the axes.
std::string identity_of(RowKey key) {
  std::ranges::sort(key.axes);
  std::string text = fmt::format("{}\n{}", key.experiment, key.number);
  for (const auto& [name, value] : key.axes) text += fmt::format("\n{}={}", name, value);
  return text;
}

std::string failure_of(const Record& record) {
  const std::string status = record.has("status") ? to_text(record.get("status")) : "ok";
  if (status == "ok") return {};
  const std::string detail = to_text(record.get("detail"));
  return detail.empty() ? status : status + ": " + detail;
}

/// Different rows of all sides: each takes 20 microseconds and some kilobytes.
constexpr std::size_t most_rows = 200'000;

/// The rows of one process, numbered within their points.
void add_process(const MeasuringProcess& process, std::size_t side, std::size_t sides, std::vector<MatchedRow>& rows,
                 std::map<std::string, std::size_t>& places) {
  std::map<std::string, std::size_t> numbers;  // by settings and point
  for (const Record& record : process.records) {
    RowKey key = key_of_record(process, record);
    if (record.has("point")) key.number = numbers[identity_of(key) + "\n" + to_text(record.get("point"))]++;
    const auto [place, is_new] = places.emplace(identity_of(key), rows.size());
    if (rows.size() > most_rows)
      throw Error(fmt::format("compare: more than {} rows that differ in their settings", most_rows));
    if (is_new) rows.push_back({std::move(key), std::vector<std::vector<RowOfProcess>>(sides)});
    std::vector<RowOfProcess>& processes = rows[place->second].sides[side];
    if (processes.empty() || processes.back().process != &process) processes.push_back({&process, {}, {}});
    const std::string failure = failure_of(record);
    if (failure.empty())
      processes.back().records.push_back(&record);
    else
      processes.back().failure = failure;
  }
}

}  // namespace

std::string RowKey::text() const {
  std::string text;
  for (const auto& [name, value] : axes) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  if (number > 0) text += fmt::format("{}row {}", text.empty() ? "" : " ", number + 1);
  return text;
}

bool MatchedRow::measured(std::size_t side) const {
  return std::ranges::any_of(sides[side], [](const RowOfProcess& one) { return !one.records.empty(); });
}

std::string MatchedRow::new_failure(std::size_t side) const {
  const auto failed = [](const RowOfProcess& one) { return one.records.empty() && !one.failure.empty(); };
  if (std::ranges::any_of(sides.front(), failed)) return {};
  const auto first = std::ranges::find_if(sides[side], failed);
  if (first == sides[side].end()) return {};
  return fmt::format("it failed in {} of {} processes: {}", std::ranges::count_if(sides[side], failed),
                     sides[side].size(), first->failure);
}

std::vector<MatchedRow> match_rows(std::span<const Side> sides) {
  std::vector<MatchedRow> rows;
  std::map<std::string, std::size_t> places;
  for (std::size_t side = 0; side < sides.size(); ++side)
    for (const MeasuringProcess& process : sides[side].processes)
      add_process(process, side, sides.size(), rows, places);
  return rows;
}

std::string why_no_common_row(std::span<const MatchedRow> rows) {
  struct Values {
    std::set<std::string> first, others;
  };
  std::map<std::string, Values> facts;
  for (const MatchedRow& row : rows) {
    for (std::size_t side = 0; side < row.sides.size(); ++side) {
      if (row.sides[side].empty()) continue;
      const auto add = [&](const std::string& name, const std::string& value) {
        (side == 0 ? facts[name].first : facts[name].others).insert(value);
      };
      for (const auto& [axis, value] : row.key.axes) add(axis, value);
      const std::string& writer = row.sides[side].front().process->writer;
      add("the files' program", writer.empty() ? "gpubench" : writer);
    }
  }
  std::vector<std::string> reasons;
  for (const auto& fact : facts) {
    const std::string& name = fact.first;
    const Values& values = fact.second;
    const auto listed = [](const std::set<std::string>& all) {
      return shown_text(fmt::format("{}", fmt::join(all, ", ")));
    };
    if (values.first.empty() || values.others.empty())
      reasons.push_back(fmt::format("{} is on one side only", shown_text(name)));
    else if (std::ranges::none_of(values.first,
                                  [&](const std::string& value) { return values.others.contains(value); }))
      reasons.push_back(fmt::format("{} is {} and {}", shown_text(name), listed(values.first), listed(values.others)));
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

}  // namespace gpubench
