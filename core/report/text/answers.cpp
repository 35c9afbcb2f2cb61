#include "core/report/text/answers.h"

#include <algorithm>

namespace gpubench {
namespace {

struct Appearance {
  std::string_view name, symbol, word;
};

// By Verdict; `name` is the one in run.json.
constexpr std::array<Appearance, verdict_count> appearances{{
    {"confirmed", "✓", "confirmed"},
    {"inconclusive", "?", "open"},
    {"refuted", "✗", "refuted"},
    {"not measurable here", "–", "not measurable here"},
}};

const Appearance& appearance_of(Verdict verdict) {
  return appearances[static_cast<std::size_t>(verdict)];
}

const Info::List& list_in(const Info& info, std::string_view field) {
  static const Info::List none;
  const Info* const found = info.find(field);
  return found != nullptr && found->list() != nullptr ? *found->list() : none;
}

}  // namespace

Verdict parse_verdict(std::string_view text) noexcept {
  const auto found = std::ranges::find(appearances, text, &Appearance::name);
  return found == appearances.end() ? Verdict::open : static_cast<Verdict>(found - appearances.begin());
}

std::string_view symbol_of(Verdict verdict) noexcept {
  return appearance_of(verdict).symbol;
}

std::string_view word_of(Verdict verdict) noexcept {
  return appearance_of(verdict).word;
}

std::vector<JudgedClaim> claims_in(const Info& info) {
  std::vector<JudgedClaim> claims;
  for (const Info& one : list_in(info, "expectations"))
    claims.push_back({one.text("claim"), parse_verdict(one.text("verdict")), one.text("reason")});
  return claims;
}

std::vector<VerdictCount> count_verdicts(const std::vector<JudgedClaim>& claims) {
  std::vector<VerdictCount> counts;
  for (std::size_t i = 0; i < verdict_count; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    const auto count = static_cast<int>(std::ranges::count(claims, verdict, &JudgedClaim::verdict));
    if (count > 0 || verdict != Verdict::not_measurable) counts.push_back({verdict, count});
  }
  return counts;
}

std::vector<RunAnswer> answers_in(const Info& info) {
  std::vector<RunAnswer> answers;
  for (const Info& one : list_in(info, "answers")) {
    const std::string verdict = one.text("verdict");
    answers.push_back({one.text("answer"), verdict.empty() ? Verdict::confirmed : parse_verdict(verdict),
                       one.text("why"), one.text("remedy")});
  }
  return answers;
}

bool is_decided(const RunAnswer& answer) noexcept {
  return answer.verdict == Verdict::confirmed || answer.verdict == Verdict::refuted;
}

std::optional<RunAnswer> headline_of(const std::vector<RunAnswer>& answers) {
  if (answers.empty() || is_decided(answers.front())) return answers.empty() ? std::nullopt : std::optional(answers[0]);
  RunAnswer headline = answers.front();
  const bool is_open = headline.verdict == Verdict::open;
  const auto differs = [&](const RunAnswer& other) { return other.why != headline.why; };
  const bool nothing = std::ranges::none_of(answers, is_decided);
  if (nothing && std::ranges::any_of(answers, differs)) headline.why = headline.remedy = "";
  headline.text = !is_open ? "Not measurable here" : nothing ? "Nothing is proven" : "The main claim is not proven";
  if (!headline.why.empty()) headline.text += ": " + headline.why;
  return headline;
}

}  // namespace gpubench
