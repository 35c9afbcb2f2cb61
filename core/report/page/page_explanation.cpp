#include "core/report/page/page_explanation.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/report/page/page_results.h"
#include "core/report/text/answers.h"
#include "core/report/text/run_table.h"

namespace gpubench {
namespace {

using kainjow::mustache::data;

/// results.csv and `gpubench explain` have the others.
constexpr std::size_t most_explained = 100;

/// "3 points: launch bound (batch too small)", by number of points. `all_rows`: the rows of the run, with those without
/// a step.
data counted_verdicts(const std::vector<ExplainedRow>& rows, std::size_t all_rows) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  for (const ExplainedRow& one : rows) {
    const std::string name = one.diagnosis.cause();
    const auto same = std::ranges::find(counts, name, &std::pair<std::string, std::int64_t>::first);
    (same == counts.end() ? counts.emplace_back(name, 0) : *same).second += 1;
  }
  std::ranges::stable_sort(counts, std::ranges::greater(), &std::pair<std::string, std::int64_t>::second);
  data all = empty_list();
  for (const auto& [name, count] : counts) {
    data one;
    one.set("text", counts.size() == 1 && rows.size() > 1 && rows.size() == all_rows
                        ? "all points: " + name
                        : fmt::format("{}: {}", format_count(count, "point"), name));
    one.set("first", name == counts.front().first);
    all.push_back(one);
  }
  return all;
}

std::vector<std::string_view> names_of_terms(const std::vector<ExplainedRow>& rows) {
  std::vector<std::string_view> names;
  for (const ExplainedRow& one : rows) {
    for (const WaterfallTerm& term : one.waterfall.terms)
      if (std::ranges::find(names, term.name) == names.end()) names.push_back(term.name);
  }
  const auto place = [](std::string_view name) {
    return std::ranges::find(waterfall_terms(), name) - waterfall_terms().begin();
  };
  std::ranges::sort(names, {}, place);
  return names;
}

/// Hues that stay apart on light and dark pages, by place in the waterfall.
std::string color_of_term(std::string_view name) {
  if (name == waterfall_terms().back()) return "hsl(0 0% 55%)";  // what no class explains
  const auto place = std::ranges::find(waterfall_terms(), name) - waterfall_terms().begin();
  constexpr int hues_apart = 137;  // the golden angle
  return fmt::format("hsl({} 55% 50%)", (200 + place * hues_apart) % 360);
}

/// The terms side by side, as shares of the width.
data bar_of(const Waterfall& waterfall) {
  data parts = empty_list();
  double left = 0;
  for (const WaterfallTerm& term : waterfall.terms) {
    data one;
    one.set("x", fmt::format("{:.2f}", 100 * left));
    one.set("width", fmt::format("{:.2f}", 100 * term.share));
    one.set("color", color_of_term(term.name));
    one.set("text", fmt::format("{}: {}, {}", term.name, format_seconds(term.seconds), percent_text(term.share)));
    parts.push_back(one);
    left += term.share;
  }
  return parts;
}

data row_of(const ExplainedRow& one, const std::vector<std::string_view>& names) {
  data row;
  row.set("where", one.where);
  row.set("step", one.waterfall.step_s > 0 ? format_seconds(one.waterfall.step_s) : "");
  row.set("verdict", one.diagnosis.verdict());
  set_list(row, "bar", bar_of(one.waterfall));
  data shares = empty_list();
  for (const std::string_view name : names) {
    const auto found = std::ranges::find(one.waterfall.terms, name, &WaterfallTerm::name);
    data share;
    share.set("text", found == one.waterfall.terms.end() ? "" : percent_text(found->share));
    shares.push_back(share);
  }
  row.set("shares", shares);
  return row;
}

data texts_of_remedies(const std::vector<std::string>& lines) {
  data all = empty_list();
  for (const std::string& line : lines) all.push_back(line);
  return all;
}

/// Of the point at which most is known to be gained.
void set_findings(data& page, const Run& run, const std::vector<ExplainedRow>& rows) {
  const ExplainedRow& most = most_to_gain(rows);
  const RunFacts facts = facts_of(run.info);
  const Evidence evidence(most.row, facts, words_of(run, {}));
  data all = empty_list();
  for (const Finding& finding : most.diagnosis.findings) {
    const std::vector<std::string> remedies = remedy_lines(finding, evidence);
    data one;
    one.set("headline", finding.headline);
    one.set("evidence", finding.evidence);
    set_text(one, "doubt", finding.doubt);
    one.set("remedies", texts_of_remedies(remedies));
    one.set("proof", std::string(finding.rule->proof.in(evidence.words())));
    all.push_back(one);
  }
  set_list(page, "findings", all);
  if (rows.size() > 1) page.set("findings_where", most.where);
  const std::optional<RunAnswer> headline = headline_of(answers_in(run.info));
  if (headline && is_decided(*headline)) return;
  if (explain_status(rows) != ExplainStatus::explained) return;
  const Finding& first = most.diagnosis.findings.front();
  if (!first.remedies.empty()) page.set("to_do", remedy_lines(first, evidence).front());
}

}  // namespace

std::vector<ExplainedRow> rows_with_steps(const Run& run) {
  if (std::ranges::none_of(run.records, has_steps)) return {};
  return explain_rows(run);
}

void set_explanation(data& page, const Run& run, const std::vector<ExplainedRow>& rows) {
  if (rows.empty()) return;
  data explained = empty_list(), terms = empty_list();
  set_list(page, "verdicts", counted_verdicts(rows, rows_to_show(run.records).size()));
  const std::vector<std::string_view> names = names_of_terms(rows);
  for (const std::string_view name : names) {
    data term;
    term.set("name", std::string(name));
    term.set("color", color_of_term(name));
    terms.push_back(term);
  }
  for (std::size_t i = 0; i < std::min(rows.size(), most_explained); ++i) explained.push_back(row_of(rows[i], names));
  page.set("terms", terms);
  set_list(page, "explained", explained);
  set_findings(page, run, rows);
}

}  // namespace gpubench
