#include "core/report/text/trace_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <span>

#include "core/base/units.h"
#include "core/diagnose/finding.h"
#include "core/report/text/table.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

constexpr std::size_t most_kinds = 6, most_kernels = 5, most_lines = 8;

std::string steps_text(const Info& trace) {
  const auto all = static_cast<std::int64_t>(trace.number("steps").value_or(0));
  const auto counted = static_cast<std::int64_t>(trace.number("steps_that_count").value_or(0));
  if (all == 0) return fmt::format("no steps, {} in all", format_seconds(trace.number("window_s").value_or(0)));
  const double window = trace.number("window_s").value_or(0);
  return fmt::format("{} of {} steps count (marked by {}), {} each", counted, all, one_line(trace.text("step_rule")),
                     format_seconds(window / static_cast<double>(std::max<std::int64_t>(counted, 1))));
}

void add_sentences(std::vector<std::string>& sentences, const Info& trace) {
  const auto rank = trace.number("rank");
  sentences.push_back(fmt::format("trace {}: {}{}; {}", trace.text("file"), trace.text("format"),
                                  rank ? fmt::format(", rank {:.0f}", *rank) : "", steps_text(trace)));
  for (const Info& issue : trace.items("issues")) {
    const std::string to_do = issue.text("to_do");
    sentences.push_back(fmt::format("{} {}{}", issue.text("blocks") == "true" ? "cannot be judged:" : "note:",
                                    issue.text("found"), to_do.empty() ? "" : ". To do: " + to_do));
  }
}

std::string share_cell(const Info& entry) {
  return percent_text(entry.number("share").value_or(0));
}

std::string time_cell(const Info& entry, std::string_view field) {
  return format_seconds(entry.number(field).value_or(0));
}

/// "ranks: rank 1 comes last to 38 of 40 exchanges ...".
std::string ranks_sentence(const Info& ranks) {
  const Info::List& list = ranks.items("ranks");
  const auto last = std::ranges::max_element(list, {}, [](const Info& one) { return one.number("last").value_or(0); });
  return fmt::format(
      "ranks: rank {} comes last to {:.0f} of {:.0f} exchanges, and the others wait for it; the ends of exchanges agree within "
      "{} after the clocks are aligned",
      last->text("rank"), last->number("last").value_or(0), ranks.number("exchanges").value_or(0),
      time_cell(ranks, "residual_s"));
}

Table ranks_table(const Info& ranks) {
  Table table;
  table.headings = {{"rank", Align::right},
                    {"waits in exchanges", Align::right},
                    {"transfers", Align::right},
                    {"comes last", Align::right}};
  for (const Info& one : ranks.items("ranks"))
    table.rows.push_back({one.text("rank"), time_cell(one, "waiting_s"), time_cell(one, "transfer_s"),
                          fmt::format("{:.0f}", one.number("last").value_or(0))});
  return table;
}

/// "job train.py: 223 steps in 7.2 s count (keras train batch): training 24.9 ms, first of epoch 6 times 245 ms; ..."
std::string job_sentence(const Info& job) {
  const double seconds = job.number("seconds").value_or(0);
  std::string text = "job " + one_line(job.text("script"));
  if (const std::string rank = job.text("rank"); !rank.empty()) text += ", rank " + rank;
  if (const std::string why = job.text("why_none"); !why.empty()) return text + ": " + one_line(why);
  text += fmt::format(": {} steps in {} count ({})", job.text("steps_that_count"), format_seconds(seconds),
                      one_line(job.text("step_mark")));
  const char* between = ": ";
  for (const Info& kind : job.items("kinds")) {
    text += fmt::format("{}{} {} times {}", between, kind.text("kind"), kind.text("count"),
                        format_seconds(kind.number("step_s").value_or(0)));
    between = ", ";
  }
  // What the agent took before these steps, while frameworks were imported and the warm-up ran, is not theirs.
  for (const Info& part : job.items("parts"))
    if (part.text("part") == "agent")
      text += fmt::format("; counting them took {:.1f} %", 100 * part.number("share").value_or(0));
  return text;
}

Table changes_table(const std::string& heading, const Info::List& changes, std::size_t most) {
  Table table;
  table.headings = {{heading}, {"before", Align::right}, {"after", Align::right}, {"change", Align::right}};
  for (const Info& one : changes) {
    if (table.rows.size() == most) break;
    const double added = one.number("added_s").value_or(0);
    if (added == 0 && one.number("after_s").value_or(0) == 0) continue;
    table.rows.push_back({shorten(one_line(one.text("name")), 60), time_cell(one, "before_s"),
                          time_cell(one, "after_s"), (added < 0 ? "-" : "+") + format_seconds(std::abs(added))});
  }
  return table;
}

std::vector<TitledTable> idle_tables(const Info& profile) {
  // On processors operators are work, and the main thread is what is looked at.
  const bool on_processors = profile.text("on_processors") == "true";
  Table idle;
  idle.headings = {{on_processors ? "what the main thread did" : "without work, by what the launching thread did"},
                   {"time", Align::right},
                   {"share", Align::right},
                   {"most of it"}};
  for (const Info& kind : profile.items("idle")) {
    if (idle.rows.size() == most_kinds) break;
    const Info::List& names = kind.items("names");
    std::string most = names.empty() ? "" : shorten(one_line(names.front().text("name")), 60);
    if (!names.empty() && !names.front().text("place").empty()) most += " at " + names.front().text("place");
    idle.rows.push_back({kind.text("kind"), time_cell(kind, "time_s"), share_cell(kind), one_line(most)});
  }
  if (idle.rows.empty()) return {};
  return {{on_processors ? "What the main thread did" : "Why the device had no work", std::move(idle)}};
}

/// What the counters saw in all steps, and the lines of the user's code that took the most of it.
std::vector<TitledTable> job_tables(const Info& job) {
  constexpr double least_share = 0.001;
  Table parts, lines;
  parts.headings = {
      {"part of the step"}, {"time", Align::right}, {"share", Align::right}, {"steps with it", Align::right}};
  for (const Info& part : job.items("parts"))
    if (part.number("share").value_or(0) >= least_share)
      parts.rows.push_back({part.text("part"), time_cell(part, "time_s"), share_cell(part),
                            fmt::format("{} of {}", part.text("steps_with_it"), job.text("steps_that_count"))});
  lines.headings = {
      {"line"}, {"what it does"}, {"times a step", Align::right}, {"time", Align::right}, {"share", Align::right}};
  for (const Info& site : job.items("sites")) {
    if (lines.rows.size() == most_lines) break;
    const std::optional<double> times = site.number("times_per_step");
    if (site.number("share").value_or(0) < least_share || site.number("time_s").value_or(0) <= 0) continue;
    lines.rows.push_back({shorten(one_line(site.text("place")), 70), site.text("kind"),
                          times ? fmt::format("{:.3g}", *times) : "", time_cell(site, "time_s"), share_cell(site)});
  }
  std::vector<TitledTable> tables;
  if (!parts.rows.empty()) tables.push_back({"Parts of all steps, which may lie within each other", std::move(parts)});
  if (!lines.rows.empty()) tables.push_back({"Lines of the job", std::move(lines)});
  return tables;
}

}  // namespace

std::vector<std::string> trace_sentences(const Info& run) {
  constexpr std::size_t most_traces = 8;
  std::vector<std::string> sentences;
  const Info::List& jobs = run.items("jobs");
  for (const Info& job : std::span(jobs).first(std::min(jobs.size(), most_traces)))
    sentences.push_back(job_sentence(job));
  const Info::List& traces = run.items("traces");
  for (const Info& trace : std::span(traces).first(std::min(traces.size(), most_traces)))
    add_sentences(sentences, trace);
  if (traces.size() > most_traces) sentences.push_back(fmt::format("and {} more traces", traces.size() - most_traces));
  for (const std::string& note : run.texts("trace_notes")) sentences.push_back(note);
  if (const Info* const ranks = run.find("trace_ranks")) {
    if (const std::string note = ranks->text("note"); !note.empty()) sentences.push_back("ranks: " + note);
    if (!ranks->items("ranks").empty()) sentences.push_back(ranks_sentence(*ranks));
  }
  if (const Info* const difference = run.find("trace_difference"))
    sentences.push_back("difference: " + difference->text("sentence"));
  return sentences;
}

std::vector<TitledTable> trace_tables(const Info& run) {
  constexpr std::size_t most_classes = 10;
  std::vector<TitledTable> tables;
  if (const Info* const ranks = run.find("trace_ranks"); ranks != nullptr && !ranks->items("ranks").empty())
    tables.push_back({"How long ranks wait for each other", ranks_table(*ranks)});
  if (const Info* const difference = run.find("trace_difference")) {
    const auto add = [&](const char* title, const char* heading, const char* field, std::size_t most) {
      Table table = changes_table(heading, difference->items(field), most);
      if (!table.rows.empty()) tables.push_back({title, std::move(table)});
    };
    add("What changed, by class", "class", "classes", most_classes);
    add("Kernels that changed most", "kernel", "kernels", most_kernels);
    add("Time without work that changed most", "without work", "idle", most_kinds);
    add("Parts of a step that changed most", "part of the step", "parts", most_kinds);
    add("Lines of the job that changed most", "line", "lines", most_lines);
  }
  return tables;
}

std::vector<TitledTable> step_tables(const Info& profile, const Info* job) {
  std::vector<TitledTable> tables = job != nullptr ? job_tables(*job) : idle_tables(profile);
  Table kernels;
  kernels.headings = {{"kernels and copies"},
                      {"time", Align::right},
                      {"share", Align::right},
                      {"calls", Align::right},
                      {"launched by"}};
  for (const Info& entry : profile.items("entries")) {
    if (kernels.rows.size() == most_kernels) break;
    if (entry.text("op").empty()) continue;
    kernels.rows.push_back({shorten(one_line(entry.text("op")), 60), time_cell(entry, "time_s"), share_cell(entry),
                            fmt::format("{:.0f}", entry.number("calls").value_or(0)),
                            shorten(one_line(entry.text("layer")), 60)});
  }
  if (!kernels.rows.empty())
    tables.push_back({job != nullptr ? "Kernels and copies in the window" : "Kernels and copies", std::move(kernels)});
  return tables;
}

const Info* job_of(const Run& run, const Record& row) {
  const Info::List& jobs = run.info.items("jobs");
  const auto point = static_cast<std::size_t>(number_in(row.get("point")).value_or(0));
  return point >= 1 && point <= jobs.size() ? &jobs[point - 1] : nullptr;
}

std::string tables_text(const std::vector<TitledTable>& tables) {
  std::string text;
  for (const TitledTable& one : tables) text += "\n" + render_text(one.table);
  return text;
}

std::string trace_facts_text(const Info& run, const TextStyle& style) {
  std::string text;
  for (const std::string& sentence : trace_sentences(run)) text += wrap_words(one_line(sentence), 0, 2, style.width);
  return text + tables_text(trace_tables(run));
}

}  // namespace gpubench
