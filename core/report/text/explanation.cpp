#include "core/report/text/explanation.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/base/units.h"
#include "core/diagnose/fixed_work.h"
#include "core/diagnose/remedy_effect.h"
#include "core/diagnose/rules/rules.h"
#include "core/report/text/color.h"
#include "core/report/text/run_table.h"
#include "core/report/text/text.h"
#include "core/report/text/trace_text.h"
#include "core/results/append_file.h"

namespace gpubench {
namespace {

constexpr std::size_t most_bar = 24;  // columns of a terminal
constexpr std::size_t indent = 3;

/// Those whose values tell rows apart; all of them where none does.
std::vector<std::string> telling_axes(const Run& run) {
  std::vector<std::string> names = axis_names(run);
  std::erase_if(names, [&](const std::string& name) {
    const auto is_the_first = [&](const Record& row) { return row.get(name) == run.records.front().get(name); };
    return std::ranges::all_of(run.records, is_the_first);
  });
  return names.empty() ? axis_names(run) : names;
}

std::string place_of(const std::vector<std::string>& told, const Record& row) {
  std::string place = "point " + to_text(row.get("point"));
  if (const auto process = number_in(row.get("process")); process && *process > 0)
    place += fmt::format(", process {:.0f}", *process);
  std::string axes;
  for (const std::string& axis : told) axes += fmt::format(" {}={}", axis, to_text(row.get(axis)));
  return axes.empty() ? place : place + ":" + axes;
}

[[noreturn]] void fail_point(const Run& run, std::int64_t point) {
  std::int64_t last = 0;
  for (const Record& row : run.records)
    last = std::max(last, static_cast<std::int64_t>(number_in(row.get("point")).value_or(0)));
  throw Error(fmt::format("explain: there is no point {} in the run '{}'; it has the points 1 to {}", point,
                          run.info.text("run"), last));
}

std::string labelled_line(std::string_view label, const std::string& text, const TextStyle& style) {
  if (text.empty()) return {};
  const std::string line = fmt::format("{}{} {}", std::string(indent, ' '), label, one_line(text));
  return wrap_words(line, 0, indent + 2, style.width);
}

/// "1.91", "24.5", "300": rounded up, as it is a bound.
std::string times_text(double times) {
  const double unit = times < 10 ? 100 : times < 100 ? 10 : 1;
  return fmt::format("{:.{}f}", std::ceil(times * unit) / unit, times < 10 ? 2 : times < 100 ? 1 : 0);
}

/// What can be gained is said of findings that gain something.
std::optional<double> bound_of(const Finding& finding, Remedy remedy, const Evidence& evidence) {
  return finding.gain.value > 0 ? at_most_times_as_fast(remedy, evidence) : std::nullopt;
}

std::string remedy_text(const Finding& finding, Remedy remedy, const Evidence& evidence) {
  const RemedyText& text = text_of(remedy);
  const std::string_view line = text.line(evidence.words());
  const std::optional<double> bound = bound_of(finding, remedy, evidence);
  return fmt::format("{}{}{}{}", text.advice, line.empty() ? "" : fmt::format(": {}", line),
                     text.changes_results ? " (changes what is computed)" : "",
                     bound ? fmt::format("; at most {} times as fast", times_text(*bound)) : "");
}

}  // namespace

std::vector<std::string> remedy_lines(const Finding& finding, const Evidence& evidence) {
  std::vector<std::string> lines;
  for (const Remedy remedy : finding.remedies) lines.push_back(remedy_text(finding, remedy, evidence));
  return lines;
}

namespace {

std::string left_out_text(const Finding& finding) {
  std::vector<std::string> parts;
  for (const auto& [remedy, why] : finding.left_out) parts.push_back(fmt::format("{}: {}", to_string(remedy), why));
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// "without it a step takes 121 ms, 1.47 times as fast; then compute bound"; of traces.
std::string replay_text(const Evidence& evidence) {
  const auto replayed = evidence.number("replayed_step_time_s"), step = evidence.step_s();
  if (!replayed || !step || !(*replayed > 0)) return {};
  return fmt::format("the same launches without it take {} a step, {:.2f} times as fast; then {}",
                     format_seconds(*replayed), *step / *replayed, evidence.text("replay_verdict"));
}

std::string finding_text(const Finding& finding, const Evidence& evidence, std::size_t number, const TextStyle& style) {
  std::string text = wrap_words(fmt::format("{}. {}", number, one_line(finding.headline)), 0, indent, style.width);
  text += labelled_line("why:", finding.evidence, style);
  text += labelled_line("in doubt:", finding.doubt, style);
  for (const std::string& line : remedy_lines(finding, evidence)) text += labelled_line("do:", line, style);
  text += labelled_line("of no use:", left_out_text(finding), style);
  if (number == 1) text += labelled_line("replay:", replay_text(evidence), style);
  text += labelled_line("proof:", std::string(finding.rule->proof.in(evidence.words())), style);
  text += labelled_line("to know more:", finding.flag, style);
  return text;
}

std::string bar(double share, std::size_t columns) {
  std::string text;
  const auto length = static_cast<std::size_t>(std::lround(share * static_cast<double>(columns)));
  for (std::size_t i = 0; i < length; ++i) text += "█";
  return text;
}

std::string waterfall_text(const Waterfall& waterfall, const TextStyle& style) {
  constexpr std::string_view total = "measured step";
  std::size_t name_width = total.size();
  for (const WaterfallTerm& term : waterfall.terms) name_width = std::max(name_width, term.name.size());
  const auto line = [&](std::string_view name, double seconds, double share, const std::string& rest) {
    const std::string time = format_seconds(seconds);
    constexpr std::size_t time_width = 8;
    const std::size_t own = display_width(time);
    return fmt::format("  {:<{}}  {}{}  {:>5}{}\n", name, name_width,
                       std::string(time_width - std::min(own, time_width), ' '), time, percent_text(share),
                       rest.empty() ? "" : "  " + rest);
  };
  const std::size_t used = name_width + 21;
  const std::size_t room = style.width == 0 ? most_bar : std::min(most_bar, style.width - std::min(style.width, used));
  std::string text;
  for (const WaterfallTerm& term : waterfall.terms)
    text += line(term.name, term.seconds, term.share, bar(term.share, room));
  return text + line(total, waterfall.step_s, 1, "");
}

std::string machine_text(const std::vector<CheckResult>& machine, const TextStyle& style) {
  std::string text;
  for (const CheckResult& fact : machine) {
    const std::string subject = fact.device.empty() ? fact.name : fact.name + " of " + fact.device;
    text += wrap_words(
        one_line(fmt::format("machine: {}: {}; {}. Remedy: {}", subject, fact.found, fact.consequence, fact.remedy)), 0,
        indent, style.width);
  }
  return text;
}

std::string row_text(const ExplainedRow& one, const RunFacts& facts, Words words, const TextStyle& style) {
  std::string text = wrap_words(one_line(one.where), 0, indent, style.width);
  const std::string verdict = wrap_words(one_line(one.diagnosis.verdict()), 0, indent, style.width);
  text += in_color(std::string_view(verdict).substr(0, verdict.size() - 1), bold, style.color) + "\n\n";
  if (!one.waterfall.terms.empty()) text += waterfall_text(one.waterfall, style) + "\n";
  std::size_t number = 0;
  const Evidence evidence(one.row, facts, words);
  for (const Finding& finding : one.diagnosis.findings) text += finding_text(finding, evidence, ++number, style);
  return text + machine_text(one.diagnosis.machine, style);
}

std::string verdicts_text(const Run& run, const std::vector<ExplainedRow>& rows, const TextStyle& style) {
  RunTable shown;
  shown.table.headings = {{"point", Align::right}};
  const std::vector<std::string> axes = axis_names(run);
  for (const std::string& axis : axes) shown.table.headings.push_back({heading_of(column_of(axis))});
  shown.table.headings.push_back({"mean step", Align::right});
  shown.table.headings.push_back({"verdict"});
  shown.axes = axes.size() + 1;
  shown.problems = 1;
  for (const ExplainedRow& one : rows) {
    std::vector<std::string> cells{to_text(one.row.get("point"))};
    for (const std::string& axis : axes) cells.push_back(format_cell(one.row.get(axis), column_of(axis).unit));
    cells.push_back(one.waterfall.step_s > 0 ? format_seconds(one.waterfall.step_s) : "");
    cells.push_back(one.diagnosis.verdict());
    shown.table.rows.push_back(std::move(cells));
  }
  fit_width(shown, style.width);
  return render_text(shown.table) + "\n";
}

Info share_fields(const Finding& finding, Words words) {
  Info fields(Info::Fields{{"name", std::string(finding.rule->name)},
                           {"headline", finding.headline},
                           {"gain_share", finding.gain.value},
                           {"evidence", finding.evidence},
                           {"proof", std::string(finding.rule->proof.in(words))}});
  if (finding.gain.interval) {
    fields.set("gain_low_share", finding.gain.interval->low);
    fields.set("gain_high_share", finding.gain.interval->high);
  }
  for (const auto& [name, text] :
       {std::pair{"kind", &finding.kind}, {"doubt", &finding.doubt}, {"flag", &finding.flag}})
    if (!text->empty()) fields.set(name, *text);
  return fields;
}

void set_expected(Info& fields, const Share& gain) {
  const Interval ends = gain.interval.value_or(Interval{gain.value, gain.value});
  fields.set("expected_gain_share", gain.value);
  fields.set("expected_gain_low_share", ends.low);
  fields.set("expected_gain_high_share", ends.high);
}

Info finding_info(const Finding& finding, const Diagnosis& diagnosis, const Evidence& evidence) {
  Info fields = share_fields(finding, evidence.words());
  Info::List remedies, left_out;
  for (const Remedy remedy : finding.remedies) {
    const RemedyText& text = text_of(remedy);
    Info one(Info::Fields{{"name", std::string(text.name)},
                          {"advice", std::string(text.advice)},
                          {"changes_results", text.changes_results}});
    if (const std::string_view line = text.line(evidence.words()); !line.empty()) one.set("line", std::string(line));
    if (const auto bound = bound_of(finding, remedy, evidence)) one.set("at_most_times_as_fast", *bound);
    if (const auto expected = expected_gain(remedy, diagnosis.findings, evidence)) set_expected(one, *expected);
    remedies.push_back(std::move(one));
  }
  fields.set("remedies", std::move(remedies));
  for (const auto& [remedy, why] : finding.left_out)
    left_out.push_back(Info::Fields{{"name", std::string(to_string(remedy))}, {"why", why}});
  if (!left_out.empty()) fields.set("of_no_use", std::move(left_out));
  return fields;
}

Info waterfall_info(const Waterfall& waterfall) {
  Info::List terms;
  for (const WaterfallTerm& term : waterfall.terms) {
    terms.push_back(Info::Fields{{"name", std::string(term.name)},
                                 {"seconds", term.seconds},
                                 {"share", term.share},
                                 {"meaning", std::string(term.meaning)}});
  }
  return terms;
}

Info row_info(const Run& run, const ExplainedRow& one, const RunFacts& facts, Words words) {
  Info fields;
  for (const char* column : {"point", "process", "status", "quality"})
    if (one.row.has(column)) fields.set(column, one.row.get(column));
  Info::Fields axes;
  for (const std::string& axis : axis_names(run)) axes.emplace_back(axis, one.row.get(axis));
  fields.set("axes", std::move(axes));
  fields.set("verdict", one.diagnosis.verdict());
  for (const char* column : {"replayed_step_time_s", "replay_verdict"})
    if (one.row.has(column)) fields.set(column, one.row.get(column));
  if (one.waterfall.step_s > 0) fields.set("step_s", one.waterfall.step_s);
  fields.set("waterfall", waterfall_info(one.waterfall));
  Info::List machine;
  for (const CheckResult& fact : one.diagnosis.machine) {
    machine.push_back(Info::Fields{{"name", fact.name},
                                   {"device", fact.device},
                                   {"state", std::string(to_string(fact.state))},
                                   {"found", fact.found},
                                   {"consequence", fact.consequence},
                                   {"remedy", fact.remedy}});
  }
  fields.set("findings", findings_info(one.diagnosis, Evidence(one.row, facts, words)));
  fields.set("machine", std::move(machine));
  return fields;
}

}  // namespace

Info findings_info(const Diagnosis& diagnosis, const Evidence& evidence) {
  Info::List findings;
  for (const Finding& finding : diagnosis.findings) findings.push_back(finding_info(finding, diagnosis, evidence));
  return findings;
}

Words words_of(const Run& run, const ExplainOptions& options) {
  if (options.words) return *options.words;
  const Info::List& traces = run.info.items("traces");
  const std::string framework = traces.empty() ? "" : traces.front().text("framework");
  if (framework == "pytorch") return Words::pytorch;
  if (framework == "tensorflow") return Words::keras;
  if (framework == "jax") return Words::jax;
  return traces.empty() ? Words::lua : Words::pytorch;
}

namespace {

constexpr EnumNames<ExplainStatus, 3> status_names{"unknown status", {"explained", "healthy", "cannot_tell"}};

}  // namespace

std::string_view to_string(ExplainStatus status) {
  return status_names[status];
}

ExplainStatus explain_status(const std::vector<ExplainedRow>& rows) {
  const Diagnosis& diagnosis = most_to_gain(rows).diagnosis;
  if (diagnosis.is_healthy) return ExplainStatus::healthy;
  return diagnosis.findings.front().rule == &cannot_tell || !diagnosis.findings.front().doubt.empty()
             ? ExplainStatus::cannot_tell
             : ExplainStatus::explained;
}

std::vector<ExplainedRow> explain_rows(const Run& run, const ExplainOptions& options) {
  const RunFacts facts = facts_of(run.info);
  const std::vector<std::string> told = telling_axes(run);
  std::vector<ExplainedRow> rows;
  bool has_point = false;
  for (const Record& row : with_fixed_work(rows_to_show(run.records), axis_names(run))) {
    if (options.point && number_in(row.get("point")) != static_cast<double>(*options.point)) continue;
    has_point = true;
    if (!has_steps(row)) continue;
    rows.push_back(
        {row, place_of(told, row), diagnose(row, facts, words_of(run, options)), waterfall_of(Evidence(row, facts))});
  }
  if (options.point && !has_point) fail_point(run, *options.point);
  if (rows.empty()) {
    throw Error(fmt::format(
        "explain: {} of the run '{}' has a measured step; findings are about rows of "
        "gb.measure.training, gb.measure.loop and gb.measure.inference",
        options.point ? fmt::format("no row of point {}", *options.point) : "no row", run.info.text("run")));
  }
  return rows;
}

const ExplainedRow& most_to_gain(const std::vector<ExplainedRow>& rows) {
  // Where nothing can be told, nothing is known to be gained, and a point that failed has no time to lose.
  const auto gain = [](const ExplainedRow& one) {
    if (!(one.waterfall.step_s > 0)) return -1.0;
    if (one.diagnosis.findings.empty()) return 0.0;
    const Finding& first = one.diagnosis.findings.front();
    return first.doubt.empty() && !first.remedies.empty() ? first.gain.value : 0.0;
  };
  const ExplainedRow& most = *std::ranges::max_element(rows, {}, gain);
  // Ranks that wait are not the cause: the one that comes last is.
  if (most.diagnosis.findings.empty() || most.diagnosis.findings.front().rule != &uneven_replicas) return most;
  const auto last = std::ranges::find_if(rows, [&](const ExplainedRow& one) {
    return one.row.has("rank") && one.row.get("rank") == most.row.get("last_rank");
  });
  return last == rows.end() ? most : *last;
}

Info stored_profile(const Run& run, const Record& row) {
  const std::filesystem::path file = run.directory / fmt::format("profile-{}.json", to_text(row.get("point")));
  if (!std::filesystem::is_regular_file(file)) return {};
  return parse_json(read_file(file), file.string());
}

std::string explanation_text(const Run& run, const std::vector<ExplainedRow>& rows, const ExplainOptions& options,
                             const TextStyle& style) {
  const RunFacts facts = facts_of(run.info);
  std::string text =
      wrap_words(one_line(run.info.text("experiment") + ": " + run.info.text("title")), 0, 4, style.width);
  text += fmt::format("run {}\n", one_line(run.info.text("run")));
  text += trace_facts_text(run.info, style) + "\n";
  if (options.point) {
    for (const ExplainedRow& one : rows)
      text += (&one == rows.data() ? "" : "\n") + row_text(one, facts, words_of(run, options), style);
    return text;
  }
  if (rows.size() > 1) {
    text += verdicts_text(run, rows, style);
    text += wrap_words("The point at which most is known to be gained; --point N explains another:", 0, 0, style.width);
  }
  const ExplainedRow& most = most_to_gain(rows);
  text += row_text(most, facts, words_of(run, options), style);
  if (!run.info.items("traces").empty())
    text += tables_text(step_tables(stored_profile(run, most.row), job_of(run, most.row)));
  return text;
}

Info explanation_info(const Run& run, const std::vector<ExplainedRow>& rows, const ExplainOptions& options) {
  Info::List points;
  const RunFacts facts = facts_of(run.info);
  for (const ExplainedRow& one : rows) points.push_back(row_info(run, one, facts, words_of(run, options)));
  Info info(Info::Fields{{"run", run.info.text("run")},
                         {"experiment", run.info.text("experiment")},
                         {"status", std::string(to_string(explain_status(rows)))},
                         {"points", std::move(points)}});
  for (const char* field : {"traces", "jobs", "trace_ranks", "trace_difference", "trace_notes"})
    if (const Info* const own = run.info.find(field)) info.set(field, *own);
  return info;
}

}  // namespace gpubench
