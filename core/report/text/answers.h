// What a run says in words, read from run.json: its question and answers, and how its claims came out.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/info.h"

namespace gpubench {

/// Order of importance in counts.
enum class Verdict { confirmed, open, refuted, not_measurable };
inline constexpr std::size_t verdict_count = 4;

/// "inconclusive", and text that is no verdict, are open.
Verdict parse_verdict(std::string_view text) noexcept;
/// "✓", "?", "✗", "–".
std::string_view symbol_of(Verdict verdict) noexcept;
/// "confirmed", "open", "refuted", "not measurable here".
std::string_view word_of(Verdict verdict) noexcept;

struct JudgedClaim {
  std::string claim;
  Verdict verdict = Verdict::open;
  std::string reason;
};
/// Empty for a run without claims, or whose run.json holds something else there.
std::vector<JudgedClaim> claims_in(const Info& info);

struct VerdictCount {
  Verdict verdict;
  int count = 0;
};
/// Confirmed, open and refuted, and not measurable where it occurs.
std::vector<VerdictCount> count_verdicts(const std::vector<JudgedClaim>& claims);

struct RunAnswer {
  std::string text;
  /// Of the claim that it comes from; confirmed for an answer of the script's own function.
  Verdict verdict = Verdict::confirmed;
  /// Of claims that are open: why, and what settles them; runs of older programs have neither.
  std::string why = {}, remedy = {};
};
std::vector<RunAnswer> answers_in(const Info& info);
/// Confirmed or refuted.
bool is_decided(const RunAnswer& answer) noexcept;

/// What a run found, in a sentence: its first answer if that is decided; else that nothing is proven, or the claim that
/// it was made for is not, and why. Nothing for a run without answers.
std::optional<RunAnswer> headline_of(const std::vector<RunAnswer>& answers);

}  // namespace gpubench
