#include "core/report/text/trace_text.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/units.h"
#include "core/diagnose/finding.h"
#include "core/report/text/table.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

constexpr std::size_t most_kinds = 6, most_kernels = 5;

std::string steps_text(const Info& trace) {
  const auto all = static_cast<std::int64_t>(trace.number("steps").value_or(0));
  const auto counted = static_cast<std::int64_t>(trace.number("steps_that_count").value_or(0));
  if (all == 0) return fmt::format("no steps, {} in all", format_seconds(trace.number("window_s").value_or(0)));
  const double window = trace.number("window_s").value_or(0);
  return fmt::format("{} of {} steps count (marked by {}), {} each", counted, all, one_line(trace.text("step_rule")),
                     format_seconds(window / static_cast<double>(std::max<std::int64_t>(counted, 1))));
}

std::string one_trace_text(const Info& trace, const TextStyle& style) {
  const auto rank = trace.number("rank");
  std::string text =
      wrap_words(one_line(fmt::format("trace {}: {}{}; {}", trace.text("file"), trace.text("format"),
                                      rank ? fmt::format(", rank {:.0f}", *rank) : "", steps_text(trace))),
                 0, 2, style.width);
  for (const Info& issue : trace.items("issues")) {
    const bool blocks = issue.text("blocks") == "true";
    const std::string to_do = issue.text("to_do");
    text += wrap_words(one_line(fmt::format("{} {}{}", blocks ? "cannot be judged:" : "note:", issue.text("found"),
                                            to_do.empty() ? "" : ". To do: " + to_do)),
                       2, 4, style.width);
  }
  return text;
}

std::string share_cell(const Info& entry) {
  return percent_text(entry.number("share").value_or(0));
}

std::string time_cell(const Info& entry) {
  return format_seconds(entry.number("time_s").value_or(0));
}

}  // namespace

std::string trace_facts_text(const Info& run, const TextStyle& style) {
  constexpr std::size_t most_traces = 8;
  std::string text;
  std::size_t count = 0;
  for (const Info& trace : run.items("traces")) {
    if (++count > most_traces) {
      text += fmt::format("and {} more traces\n", run.items("traces").size() - most_traces);
      break;
    }
    text += one_trace_text(trace, style);
  }
  for (const std::string& note : run.texts("trace_notes")) text += wrap_words(one_line(note), 0, 2, style.width);
  return text;
}

std::string trace_profile_text(const Info& profile) {
  std::string text;
  Table idle;
  idle.headings = {{"without work, by what the launching thread did"},
                   {"time", Align::right},
                   {"share", Align::right},
                   {"most of it"}};
  for (const Info& kind : profile.items("idle")) {
    if (idle.rows.size() == most_kinds) break;
    const Info::List& names = kind.items("names");
    std::string most = names.empty() ? "" : shorten(names.front().text("name"), 60);
    if (!names.empty() && !names.front().text("place").empty()) most += " at " + names.front().text("place");
    idle.rows.push_back({one_line(kind.text("kind")), time_cell(kind), share_cell(kind), one_line(most)});
  }
  if (!idle.rows.empty()) text += "\n" + render_text(idle);
  Table kernels;
  kernels.headings = {{"kernels and copies"},
                      {"time", Align::right},
                      {"share", Align::right},
                      {"calls", Align::right},
                      {"launched by"}};
  for (const Info& entry : profile.items("entries")) {
    if (kernels.rows.size() == most_kernels) break;
    if (entry.text("op").empty()) continue;
    kernels.rows.push_back({shorten(one_line(entry.text("op")), 60), time_cell(entry), share_cell(entry),
                            fmt::format("{:.0f}", entry.number("calls").value_or(0)), one_line(entry.text("layer"))});
  }
  if (!kernels.rows.empty()) text += "\n" + render_text(kernels);
  return text;
}

}  // namespace gpubench
