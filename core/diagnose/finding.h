// A finding: why a device was not busy, with evidence, what to change, the most that it can gain and how to prove it.
// Each finding is one file in core/diagnose/rules and one row of the table in findings.cpp.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/diagnose/evidence.h"
#include "core/diagnose/remedy.h"

namespace gpubench {

/// A limit of a rule, and where it comes from.
struct Threshold {
  std::string_view name;    ///< "moderate"
  double value;             ///< in the unit of `text`
  std::string_view text;    ///< "5 % of the step"
  std::string_view source;  ///< "XProf's input-pipeline analyzer"
};

struct FindingRule;

struct Finding {
  const FindingRule* rule = nullptr;
  std::string_view title;  ///< of the rule, or what says better what takes the time
  std::string kind;        ///< tells variants apart: "processing"; may be empty
  /// Share of the step that the cause takes; 0 if nothing can be gained.
  Share gain;
  /// In one line, for a table: "input bound (processing): 42 % of the step".
  std::string headline;
  std::string evidence;          ///< figures in words
  std::vector<Remedy> remedies;  ///< what to try first comes first
  /// Remedies that diagnose() left out, and why: the script has them, or they change nothing there.
  std::vector<std::pair<Remedy, std::string>> left_out{};
  /// Why the finding is not certain; empty if it is.
  std::string doubt;
  /// What the script can do to know more; empty if nothing is missing.
  std::string flag;
};

struct FindingRule {
  std::string_view name;   ///< "input_bound"
  std::string_view title;  ///< "input bound"
  std::string_view meaning;
  std::string_view rule;  ///< when it fires, in words that name the columns
  std::span<const Threshold> thresholds;
  /// All that any of its variants proposes.
  std::span<const Remedy> remedies;
  /// The experiment whose outcome proves or refutes it.
  Wording proof;
  /// Nothing if the rule does not fire.
  std::optional<Finding> (*judge)(const Evidence& evidence);
};

/// A finding of `rule` with the headline "TITLE (KIND): 42 % of the step"; without `title`, that of the rule. If the
/// interval of the gain reaches below `least`, the finding is in doubt, and its flag is in the words.
Finding make_finding(const FindingRule& rule, std::string_view kind, const Share& gain, double least, Words words,
                     std::string_view title = {});
/// What to do where an interval is too wide.
inline constexpr Wording measure_longer = in_words("measure longer: --budget", "measure more steps");

/// The share without a part of it, or with more; not below 0.
Share less(Share share, double part);
/// "42 %", "0.4 %".
std::string percent_text(double share);
/// "42 % [39 %, 45 %]".
std::string share_text(const Share& share);

}  // namespace gpubench
