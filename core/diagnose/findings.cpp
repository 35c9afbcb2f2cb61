#include "core/diagnose/findings.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/diagnose/no_use.h"
#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

constexpr std::array finding_table = {
    &input_bound,         &launch_bound,    &host_bound,   &copy_bound,       &placement_crossings,
    &communication_bound, &uneven_replicas, &memory_limit, &precision_unused, &unaligned_sizes,
    &bandwidth_bound,     &compute_bound,   &cannot_tell,
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
  if (findings.empty()) return {};
  const Finding& first = findings.front();
  if (first.doubt.empty())
    return busy_first() + first.headline + (equal() == nullptr ? "" : "; as much: " + equal()->headline);
  return fmt::format("cannot tell: {}, but {}", first.headline, first.doubt);
}

std::string Diagnosis::cause() const {
  if (findings.empty()) return {};
  const Finding& first = findings.front();
  if (!first.doubt.empty()) return std::string(cannot_tell.title);
  return busy_first() + name_of(first) + (equal() == nullptr ? "" : " and " + name_of(*equal()));
}

const Finding* Diagnosis::equal() const {
  if (findings.size() < 2) return nullptr;
  const Finding &first = findings[0], &second = findings[1];
  if (first.rule == &cannot_tell || second.rule == &cannot_tell || !second.doubt.empty()) return nullptr;
  return ends_within_noise(second.gain).high >= ends_within_noise(first.gain).low && second.gain.value > 0 ? &second
                                                                                                           : nullptr;
}

std::string Diagnosis::busy_first() const {
  return is_busy && findings.front().gain.value < little_to_gain.value ? std::string(compute_bound.title) + ", then "
                                                                       : std::string();
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
  if (can_gain)
    diagnosis.is_busy =
        std::erase_if(diagnosis.findings, [](const Finding& one) { return one.rule == &compute_bound; }) > 0;
  std::ranges::stable_sort(diagnosis.findings, std::ranges::greater(),
                           [](const Finding& finding) { return finding.gain.value; });
  diagnosis.machine = machine_of(evidence);
  return diagnosis;
}

}  // namespace gpubench
