#include "core/report/text/trace_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <tuple>

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

/// "rank 1 comes last to 38 of 40 exchanges; the others wait 45.2 ms for it".
std::string ranks_text(const Info& ranks, const TextStyle& style) {
  std::string text;
  if (const std::string note = ranks.text("note"); !note.empty())
    text += wrap_words(one_line("ranks: " + note), 0, 2, style.width);
  const Info::List& list = ranks.items("ranks");
  if (list.empty()) return text;
  const auto last = std::ranges::max_element(list, {}, [](const Info& one) { return one.number("last").value_or(0); });
  Table table;
  table.headings = {{"rank", Align::right},
                    {"waits in exchanges", Align::right},
                    {"transfers", Align::right},
                    {"comes last", Align::right}};
  for (const Info& one : list)
    table.rows.push_back({one.text("rank"), format_seconds(one.number("waiting_s").value_or(0)),
                          format_seconds(one.number("transfer_s").value_or(0)),
                          fmt::format("{:.0f}", one.number("last").value_or(0))});
  return text +
         wrap_words(
             fmt::format(
                 "ranks: rank {} comes last to {:.0f} of {:.0f} exchanges, and the others wait for it; the ends of "
                 "exchanges agree within {} after the clocks are aligned",
                 last->text("rank"), last->number("last").value_or(0), ranks.number("exchanges").value_or(0),
                 format_seconds(ranks.number("residual_s").value_or(0))),
             0, 2, style.width) +
         render_text(table);
}

void add_changes(Table& table, const Info::List& changes, std::size_t most) {
  for (const Info& one : changes) {
    if (most-- == 0) break;
    const double added = one.number("added_s").value_or(0);
    table.rows.push_back({shorten(one_line(one.text("name")), 60), format_seconds(one.number("before_s").value_or(0)),
                          format_seconds(one.number("after_s").value_or(0)),
                          (added < 0 ? "-" : "+") + format_seconds(std::abs(added))});
  }
}

std::string difference_text(const Info& difference, const TextStyle& style) {
  constexpr std::size_t most_classes = 10;
  std::string text = wrap_words(one_line("difference: " + difference.text("sentence")), 0, 2, style.width);
  for (const auto& [title, field, most] : {std::tuple{"class", "classes", most_classes},
                                           {"kernel", "kernels", most_kernels},
                                           {"without work", "idle", most_kinds}}) {
    Table table;
    table.headings = {{title}, {"before", Align::right}, {"after", Align::right}, {"change", Align::right}};
    add_changes(table, difference.items(field), most);
    if (!table.rows.empty()) text += render_text(table) + "\n";
  }
  return text;
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
  if (const Info* const ranks = run.find("trace_ranks")) text += ranks_text(*ranks, style);
  if (const Info* const difference = run.find("trace_difference")) text += difference_text(*difference, style);
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
