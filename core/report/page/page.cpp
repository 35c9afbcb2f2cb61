#include "core/report/page/page.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <kainjow/mustache.hpp>
#include <map>
#include <string_view>

#include "core/base/units.h"
#include "core/report/embedded_files.h"
#include "core/report/page/page_explanation.h"
#include "core/report/page/page_parts.h"
#include "core/report/page/page_results.h"
#include "core/report/page/page_trace.h"
#include "core/report/text/answers.h"
#include "core/report/text/render.h"
#include "core/report/text/run_table.h"
#include "core/report/text/text.h"
#include "core/results/run_directory.h"

namespace gpubench {
namespace {

using kainjow::mustache::data;

// Shown elsewhere on the page, or of use to programs only.
constexpr std::array<std::string_view, 22> not_facts = {
    "experiment", "title", "run",     "status",      "rows",        "axis_names",      "charts",  "expectations",
    "warnings",   "notes", "columns", "question",    "cause",       "remedy",          "reading", "answers",
    "figures",    "tags",  "traces",  "trace_notes", "trace_ranks", "trace_difference"};
constexpr std::size_t short_commit = 7;

// `path` is the prefix of names in a nested table: "machine · ".
void add_facts(data& facts, const std::string& path, const std::string& name, const Info& info) {
  const Column column = column_of(name);
  const std::string label = path + heading_of(column);
  const auto add = [&](const std::string& value) {
    data fact;
    fact.set("name", label);
    fact.set("value", value);
    facts.push_back(fact);
  };
  if (const auto* fields = info.fields()) {
    for (const auto& [key, value] : *fields) add_facts(facts, label + " · ", key, value);
    return;
  }
  if (const auto* items = info.list()) {
    std::string joined;
    const bool plain = std::ranges::all_of(*items, [](const Info& item) { return item.cell() != nullptr; });
    for (std::size_t i = 0; i < items->size(); ++i) {
      if (!plain) add_facts(facts, label + " · ", std::to_string(i + 1), (*items)[i]);
      if (plain) joined += (i == 0 ? "" : ", ") + to_text(*(*items)[i].cell());
    }
    if (!joined.empty()) add(joined);
    return;
  }
  if (is_empty(*info.cell())) return;
  add(format_cell(*info.cell(), column.unit));
}

data fact_rows(const Info& info) {
  data facts = empty_list();
  if (!info.fields()) return facts;
  for (const auto& [name, value] : *info.fields()) {
    if (std::ranges::find(not_facts, name) == not_facts.end()) add_facts(facts, "", name, value);
  }
  return facts;
}

// Of symbols and colours.
std::string class_of(Verdict verdict) {
  const std::string_view word = word_of(verdict);
  return std::string(word.substr(0, word.find(' ')));
}

void set_verdict(data& one, Verdict verdict) {
  one.set("symbol", std::string(symbol_of(verdict)));
  one.set("word", std::string(word_of(verdict)));
  one.set("class", class_of(verdict));
}

data claims_of(const std::vector<JudgedClaim>& claims) {
  data all = empty_list();
  for (const JudgedClaim& claim : claims) {
    data one;
    one.set("claim", claim.claim);
    one.set("reason", claim.reason);
    set_verdict(one, claim.verdict);
    all.push_back(one);
  }
  return all;
}

data counts_of(const std::vector<JudgedClaim>& claims) {
  data all = empty_list();
  for (const VerdictCount& count : count_verdicts(claims)) {
    if (claims.empty()) break;
    data one;
    one.set("count", std::to_string(count.count));
    set_verdict(one, count.verdict);
    all.push_back(one);
  }
  return all;
}

// As HTML, in which options of the program ("--budget") are not broken at their hyphens.
std::string sentence_html(const std::string& text) {
  std::string html = escape_html(one_line(text));
  for (std::size_t at = html.find(" --"); at != std::string::npos; at = html.find(" --", at + 1)) {
    const std::size_t end = std::min(html.find_first_of(" .,;:", at + 1), html.size());
    html.insert(end, "</span>");
    html.insert(at + 1, "<span class=\"whole\">");
  }
  return html;
}

// The verdict is the title, with what was asked above it; other answers follow, those that are not proven behind a
// fold.
void set_answers(data& page, const Info& info) {
  const std::string title = info.text("title"), question = info.text("question");
  const std::string name = title.empty() ? info.text("experiment") : title;
  const std::string asked = question.empty() ? name : question;
  page.set("title", name);
  page.set("headline", sentence_html(asked));
  const std::vector<RunAnswer> answers = answers_in(info);
  const std::optional<RunAnswer> headline = headline_of(answers);
  data decided = empty_list(), unproven = empty_list();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i == 0 && is_decided(answers[i])) continue;
    data one;
    one.set("html", sentence_html(answers[i].text));
    set_verdict(one, answers[i].verdict);
    (is_decided(answers[i]) ? decided : unproven).push_back(one);
  }
  page.set("answers", decided);
  set_list(page, "unproven", unproven);
  if (!headline) return;
  page.set("asked", asked);
  page.set("headline", sentence_html(headline->text));
  page.set("headline_symbol", std::string(symbol_of(headline->verdict)));
  page.set("headline_class", class_of(headline->verdict));
  if (!headline->remedy.empty()) page.set("settle", sentence_html(headline->remedy));
}

std::string joined(const std::vector<std::string>& texts, std::string_view separator) {
  return fmt::format("{}", fmt::join(texts, separator));
}

// The machine's devices: "AMD EPYC, 32 threads + 8 × NVIDIA H200, 139 GiB".
std::string devices_of(const Info& info) {
  std::vector<std::pair<std::string, int>> kinds;
  std::map<std::string, std::size_t> places;
  for (const Info& device : info.items("devices")) {
    std::string text = device.text("description");
    if (text.empty()) text = device.text("name");
    const auto [place, is_new] = places.emplace(text, kinds.size());
    if (is_new)
      kinds.emplace_back(std::move(text), 1);
    else
      ++kinds[place->second].second;
  }
  std::vector<std::string> texts;
  for (const auto& [text, count] : kinds) texts.push_back(count > 1 ? fmt::format("{} × {}", count, text) : text);
  return joined(texts, " + ");
}

std::string text_in(const Info& info, std::string_view table, std::string_view field) {
  const Info* const found = info.find(table);
  return found != nullptr ? found->text(field) : std::string();
}

// Where, when and how the run ended, in the page's first line.
data run_facts_of(const Run& run) {
  data all = empty_list();
  for (const std::string& fact :
       {devices_of(run.info), text_in(run.info, "machine", "host"), run.info.text("run"), run.info.text("status"),
        joined(run.info.texts("tags"), ", "), format_count(static_cast<std::int64_t>(run.records.size()), "row")})
    if (!fact.empty()) all.push_back(fact);
  return all;
}

// Of the run's folder, beside this page.
data files_of(const Run& run) {
  data all = empty_list();
  std::vector<std::string> names{"results.csv", "samples.csv", "run.json"};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(run.directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("profile-") || name.starts_with("trace-") || name == "script.lua" || name == "rounds.csv")
      names.push_back(name);
  }
  std::sort(names.begin() + 3, names.end());
  for (const std::string& name : names) {
    data one;
    one.set("name", name);
    one.set("link", escape_url(name));
    one.set("first", &name == names.data());
    all.push_back(one);
  }
  return all;
}

data texts_of(const Info& info, std::string_view field) {
  data all = empty_list();
  for (const std::string& text : info.texts(field)) all.push_back(text);
  return all;
}

data warnings_of(const Info& info) {
  data all = empty_list();
  for (const std::string& text : info.texts("warnings")) all.push_back(sentence_html(text));
  return all;
}

// What the marks in the charts are, if there are any.
data marks_of(const std::vector<DrawnChart>& charts) {
  data all = empty_list();
  if (std::ranges::any_of(charts, &DrawnChart::has_intervals))
    all.push_back(std::string("Thin lines with flat ends are 95 % intervals."));
  if (std::ranges::any_of(charts, &DrawnChart::has_rings))
    all.push_back(std::string("A ring marks a figure that is unreliable."));
  return all;
}

// Columns without any value are left out; the others keep the order of results.csv.
data meanings_of(const Run& run) {
  data all = empty_list();
  for (const Column& column : run.columns) {
    const bool used = std::ranges::any_of(run.records, [&](const Record& record) { return record.has(column.name); });
    if (!used || column.description.empty()) continue;
    data one;
    one.set("name", column.name);
    one.set("unit", std::string(to_string(column.unit)));
    one.set("description", std::string(column.description));
    all.push_back(one);
  }
  return all;
}

}  // namespace

std::string report_page(const Run& run, const std::vector<DrawnChart>& charts) {
  const std::vector<JudgedClaim> claims = claims_in(run.info);
  data page;
  page.set("experiment", run.info.text("experiment"));
  for (const char* field : {"cause", "remedy", "reading"})
    if (const std::string text = run.info.text(field); !text.empty()) page.set(field, text);
  page.set("run_facts", run_facts_of(run));
  set_answers(page, run.info);
  page.set("counts", counts_of(claims));
  page.set("files", files_of(run));
  page.set("warnings", warnings_of(run.info));
  page.set("notes", texts_of(run.info, "notes"));
  set_list(page, "claims", claims_of(claims));
  std::error_code none;
  page.set("has_rounds", std::filesystem::exists(run.directory / "rounds.csv", none));
  set_list(page, "charts", charts_of(charts, "chart"));
  page.set("marks", marks_of(charts));
  const std::vector<ExplainedRow> explained = rows_with_steps(run);
  set_explanation(page, run, explained);
  set_trace(page, run, explained);
  set_results(page, run);
  set_list(page, "meanings", meanings_of(run));
  page.set("facts", fact_rows(run.info));
  return fill(embedded::report_template, page);
}

std::string index_page(std::vector<RunSummary> runs) {
  std::ranges::stable_sort(runs, std::ranges::greater(), &RunSummary::started);
  data rows = empty_list();
  for (const RunSummary& run : runs) {
    data row;
    for (const auto& [name, text] : {std::pair<const char*, std::string>{"experiment", run.experiment},
                                     {"started", run.started},
                                     {"host", text_in(run.info, "machine", "host")},
                                     {"devices", devices_of(run.info)},
                                     {"commit", text_in(run.info, "program", "commit").substr(0, short_commit)}})
      row.set(name, text);
    const std::optional<RunAnswer> headline = headline_of(answers_in(run.info));
    row.set("answer", headline ? headline->text : run.title);
    row.set("counts", counts_of(claims_in(run.info)));
    row.set("status", run.status == unfinished_status ? "unfinished" : run.status);
    row.set("rows", std::to_string(run.rows));
    if (std::filesystem::exists(run.directory / "report.html"))
      row.set("link", fmt::format("{}/{}/report.html", escape_url(run.experiment), escape_url(run.name)));
    rows.push_back(row);
  }
  data page;
  set_list(page, "runs", rows);
  return fill(embedded::index_template, page);
}

}  // namespace gpubench
