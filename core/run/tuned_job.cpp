#include "core/run/tuned_job.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

#include "core/base/enum_names.h"
#include "core/base/shown_text.h"
#include "core/base/units.h"
#include "core/report/text/table.h"

namespace gpubench {
namespace {

constexpr EnumNames<RemedyOutcome, 6> outcome_names{"unknown outcome",
                                                    {"helps", "no gain", "slower", "open", "failed", "not tried"}};

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string times_text(const TriedRemedy& remedy) {
  if (remedy.step_s.empty()) return "";
  if (!remedy.has_interval) return fmt::format("{:.2f}, one pair", remedy.times.value);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", remedy.times.value, remedy.times.interval.low,
                     remedy.times.interval.high);
}

}  // namespace

std::string setting_of(const TriedRemedy& remedy) {
  return fmt::format("{}", fmt::join(remedy.settings, ","));
}

std::string tuned_text(const TunedJob& tuned) {
  std::string text;
  if (!tuned.as_it_was.empty())
    text +=
        fmt::format("as it is: {} a step ({} processes, {} steps each behind {})\n\n",
                    format_seconds(mean_of(tuned.as_it_was)), tuned.as_it_was.size(), tuned.steps, tuned.warm_steps);
  Table table;
  table.headings = {{"remedy"}, {"outcome"}, {"times as fast", Align::right}, {"changes"}};
  for (const TriedRemedy& remedy : tuned.remedies)
    if (remedy.outcome != RemedyOutcome::not_tried)
      table.rows.push_back({setting_of(remedy), std::string(outcome_names[remedy.outcome]), times_text(remedy),
                            remedy.outcome == RemedyOutcome::failed ? shown_text(remedy.why, 80) : remedy.changes});
  if (!table.rows.empty()) text += render_text(table) + "\n";
  for (const TriedRemedy& remedy : tuned.remedies) {
    const bool looks_good = remedy.outcome == RemedyOutcome::open && remedy.times.value > least_gain;
    if (remedy.outcome != RemedyOutcome::helps && !looks_good) continue;
    if (looks_good)
      text += fmt::format("not settled: {} looks {:.2f} times as fast\n", setting_of(remedy), remedy.times.value);
    text += fmt::format("{}{}:\n", setting_of(remedy), remedy.place.empty() ? "" : " at " + remedy.place);
    for (const std::string& line : remedy.lines) text += "  " + shown_text(line, 300) + "\n";
  }
  const auto has = [&](RemedyOutcome outcome) {
    return std::ranges::find(tuned.remedies, outcome, &TriedRemedy::outcome) != tuned.remedies.end();
  };
  if (!has(RemedyOutcome::helps))
    text += has(RemedyOutcome::open) ? "no gain is settled; a larger --budget repeats what is open\n"
                                     : "nothing that can be changed from outside helps this job\n";
  for (const std::string& note : tuned.notes) text += "note: " + note + "\n";
  std::string left;
  for (const TriedRemedy& remedy : tuned.remedies)
    if (remedy.outcome == RemedyOutcome::not_tried)
      left += fmt::format("  {}: {}\n", setting_of(remedy), shown_text(remedy.why, 200));
  if (!left.empty()) text += "not tried:\n" + left;
  return text;
}

Info tuned_info(const TunedJob& tuned) {
  Info::List remedies, processes;
  for (const double seconds : tuned.as_it_was) processes.emplace_back(seconds);
  for (const TriedRemedy& remedy : tuned.remedies) {
    Info one(Info::Fields{{"remedy", setting_of(remedy)},
                          {"outcome", std::string(outcome_names[remedy.outcome])},
                          {"changes", remedy.changes},
                          {"place", remedy.place}});
    Info::List lines, own;
    for (const std::string& line : remedy.lines) lines.emplace_back(shown_text(line, 300));
    for (const double seconds : remedy.step_s) own.emplace_back(seconds);
    one.set("lines", std::move(lines));
    one.set("step_s", std::move(own));
    if (!remedy.why.empty()) one.set("why", shown_text(remedy.why, 300));
    if (!remedy.step_s.empty()) one.set("times_as_fast", remedy.times.value);
    if (remedy.has_interval) {
      one.set("times_as_fast_low", remedy.times.interval.low);
      one.set("times_as_fast_high", remedy.times.interval.high);
    }
    remedies.push_back(std::move(one));
  }
  Info::List causes(tuned.causes.begin(), tuned.causes.end());
  return Info::Fields{{"run", tuned.run.string()},
                      {"why_none", tuned.why_none},
                      {"causes", std::move(causes)},
                      {"steps", static_cast<std::int64_t>(tuned.steps)},
                      {"warm_steps", static_cast<std::int64_t>(tuned.warm_steps)},
                      {"expected_s", tuned.expected_s},
                      {"as_it_was_s", std::move(processes)},
                      {"remedies", std::move(remedies)}};
}

}  // namespace gpubench
