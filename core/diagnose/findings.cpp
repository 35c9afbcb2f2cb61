#include "core/diagnose/findings.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include "core/diagnose/no_use.h"
#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

constexpr std::array finding_table = {
    &input_bound,         &launch_bound,    &host_bound,        &copy_bound,    &placement_crossings,
    &communication_bound, &uneven_replicas, &thread_contention, &memory_limit,  &precision_unused,
    &unaligned_sizes,     &own_attention,   &bandwidth_bound,   &compute_bound, &cannot_tell,
};

bool costs_speed(const CheckResult& fact, const Evidence& evidence) {
  return fact.is_problem() && (fact.device.empty() || evidence.uses(fact.device));
}

std::string name_of(const Finding& finding) {
  return std::string(finding.title) + (finding.kind.empty() ? "" : " (" + finding.kind + ")");
}

/// What a share without an interval is off by: in results/samples/uneven_workload, the middle half of the rounds of a
/// point lies within 1 % of the step around its median.
constexpr double usual_noise = 0.01;

Interval ends_within_noise(const Share& share) {
  return share.interval.value_or(Interval{share.value - usual_noise, share.value + usual_noise});
}

/// Moves the remedies that are of no use there to `left_out`.
void leave_out(Finding& finding, const Evidence& evidence) {
  for (const Remedy remedy : finding.remedies)
    if (std::string why = why_no_use(remedy, evidence); !why.empty())
      finding.left_out.emplace_back(remedy, std::move(why));
  for (const auto& [remedy, why] : finding.left_out) std::erase(finding.remedies, remedy);
}

std::vector<CheckResult> machine_of(const Evidence& evidence) {
  std::vector<CheckResult> facts;
  for (const CheckResult& fact : evidence.facts().machine)
    if (costs_speed(fact, evidence)) facts.push_back(fact);
  if (const std::string throttle = evidence.text("throttle"); !throttle.empty()) {
    facts.push_back({"throttle", evidence.text("device"), CheckState::costs_speed, throttle,
                     "kernels ran at lowered clocks while this point was measured", "gpubench doctor names the cause"});
  }
  return facts;
}

/// A trace has no claims and no second measurement: small findings of it lead away from the large ones.
void judge_as_trace(Diagnosis& diagnosis, const Evidence& evidence) {
  constexpr double least = 0.10, nearly_all = 0.97;
  constexpr std::size_t most = 5;
  diagnosis.is_of_trace = true;
  std::vector<Finding>& findings = diagnosis.findings;
  if (evidence.doubt()) {  // an incomplete trace has shares, and they are wrong
    std::erase_if(findings, [](const Finding& one) { return one.rule != &cannot_tell; });
    return;
  }
  // What was recorded is known; that steps differ is evidence, not doubt.
  for (Finding& one : findings) {
    const bool is_refuted = one.rule == &input_bound && evidence.has("input_ratio");
    if (one.doubt.empty() || one.rule == &cannot_tell || is_refuted) continue;
    one.evidence += "; it differs between the steps: " + std::exchange(one.doubt, {});
    one.flag.clear();
  }
  const double compute = evidence.number("compute_share").value_or(0);
  diagnosis.is_healthy = compute >= nearly_all && (findings.empty() || findings.front().gain.value < least);
  if (diagnosis.is_healthy) {
    findings.clear();
    return;
  }
  const auto is_class = [](const Finding& one) { return one.rule != &precision_unused && one.rule != &compute_bound; };
  const auto is_large = [&](const Finding& one) {
    return is_class(one) && (one.gain.value >= least || one.rule == &cannot_tell);
  };
  const bool has_large = std::ranges::any_of(findings, is_large);
  const bool computes = std::ranges::any_of(findings, [](const Finding& one) { return one.rule == &compute_bound; });
  if (computes && has_large) diagnosis.busy = compute_bound.title;
  std::erase_if(findings, [&](const Finding& one) {
    if (one.rule == &compute_bound) return has_large;
    return is_class(one) && (has_large || computes) && !is_large(one);
  });
  const auto place = [&](const Finding& one) { return one.rule == &precision_unused ? 1 : 0; };
  std::ranges::stable_sort(findings, {}, place);
  if (findings.size() > most) findings.resize(most);
}

}  // namespace

std::span<const FindingRule* const> finding_rules() {
  return finding_table;
}

std::vector<std::string_view> findings_with(Remedy remedy) {
  std::vector<std::string_view> names;
  for (const FindingRule* const rule : finding_table) {
    if (std::ranges::find(rule->remedies, remedy) != rule->remedies.end()) names.push_back(rule->name);
  }
  return names;
}

std::string Diagnosis::verdict() const {
  if (findings.empty()) return is_healthy ? "healthy: the device works nearly all of the time" : "";
  const Finding& first = findings.front();
  if (first.rule == &compute_bound && findings.size() > 1)
    return fmt::format("{}, then {}", compute_bound.title, findings[1].headline);
  if (first.doubt.empty())
    return (is_busy_first() ? busy + ", then " : "") + first.headline +
           (equal() == nullptr ? "" : "; as much: " + equal()->headline);
  return fmt::format("cannot tell: {}, but {}", first.headline, first.doubt);
}

std::string Diagnosis::cause() const {
  if (findings.empty()) return is_healthy ? "healthy" : "";
  const Finding& first = findings.front();
  if (!first.doubt.empty()) return std::string(cannot_tell.title);
  return (is_busy_first() ? std::string(compute_bound.title) + ", then " : "") + name_of(first) +
         (equal() == nullptr ? "" : " and " + name_of(*equal()));
}

const Finding* Diagnosis::equal() const {
  if (findings.size() < 2 || is_of_trace) return nullptr;  // what was recorded is known, however steps differ
  const Finding &first = findings[0], &second = findings[1];
  if (first.rule == &cannot_tell || second.rule == &cannot_tell || !second.doubt.empty()) return nullptr;
  return ends_within_noise(second.gain).high >= ends_within_noise(first.gain).low && second.gain.value > 0 ? &second
                                                                                                           : nullptr;
}

bool Diagnosis::is_busy_first() const {
  return !busy.empty() && (is_of_trace || findings.front().gain.value < little_to_gain.value);
}

Diagnosis diagnose(const Record& row, const RunFacts& facts, Words words) {
  Diagnosis diagnosis;
  if (!has_steps(row)) return diagnosis;
  const Evidence evidence(row, facts, words);
  for (const FindingRule* const rule : finding_table) {
    std::optional<Finding> finding = rule->judge(evidence);
    if (!finding) continue;
    leave_out(*finding, evidence);
    diagnosis.findings.push_back(std::move(*finding));
  }
  const bool can_gain =
      std::ranges::any_of(diagnosis.findings, [](const Finding& finding) { return finding.gain.value > 0; });
  // Busy kernels are the answer only where nothing else is.
  const auto busy = std::ranges::find(diagnosis.findings, &compute_bound, &Finding::rule);
  if (can_gain && !evidence.is_of(StepsOf::foreign) && busy != diagnosis.findings.end()) {
    diagnosis.busy = busy->kind.empty() ? std::string(compute_bound.title) : busy->headline;
    diagnosis.findings.erase(busy);
  }
  std::ranges::stable_sort(diagnosis.findings, std::ranges::greater(),
                           [](const Finding& finding) { return finding.gain.value; });
  if (evidence.is_of(StepsOf::foreign)) judge_as_trace(diagnosis, evidence);
  diagnosis.machine = machine_of(evidence);
  return diagnosis;
}

}  // namespace gpubench
