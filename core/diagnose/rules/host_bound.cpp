// The device idles while the host computes or waits: Lua in every step, callbacks, or results that are read too often.
#include <array>
#include <fmt/format.h>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/diagnose/rules/rules.h"
#include "core/results/host_cause.h"

namespace gpubench {
namespace {

constexpr Threshold host_moderate{"moderate", 0.03, "3 % of the step", "as XProf's limit for kernel launch"};
constexpr std::array host_thresholds = {host_moderate};
constexpr std::array host_remedies = {
    Remedy::compiled_step, Remedy::graph,        Remedy::fewer_callbacks,  Remedy::fewer_synchronizations,
    Remedy::larger_batch,  Remedy::fixed_shapes, Remedy::kept_allocations, Remedy::rarer_evaluation,
    Remedy::rarer_saving};
/// Those that a row without causes allows.
constexpr std::span usual_remedies(host_remedies.begin(), 5);
constexpr Wording loop_kind = in_words("Lua in every step", "Python in every step");

std::vector<Remedy> remedies_of(HostCauseKind kind) {
  switch (kind) {
    case HostCauseKind::synchronization:
      return {Remedy::fewer_synchronizations, Remedy::graph};
    case HostCauseKind::operators:
      return {Remedy::graph, Remedy::larger_batch};
    case HostCauseKind::python:
    case HostCauseKind::annotation:
      return {Remedy::fewer_callbacks, Remedy::compiled_step};
    case HostCauseKind::allocation:
      return {Remedy::kept_allocations};
    case HostCauseKind::compilation:
      return {Remedy::fixed_shapes};
    case HostCauseKind::callbacks:
      return {Remedy::fewer_callbacks};
    case HostCauseKind::evaluation:
      return {Remedy::rarer_evaluation};
    case HostCauseKind::saving:
      return {Remedy::rarer_saving};
    case HostCauseKind::first_use:
      break;
  }
  return {};
}

/// Of a trace, which says what the host did. Launches count to it where the host never leads.
std::optional<Finding> judge_foreign_host(const Evidence& evidence) {
  std::optional<Share> host = evidence.share("host_share");
  const std::string kind = evidence.text("host_cause_kind");
  if (!host || kind.empty()) return std::nullopt;
  const bool with_launches = never_leads(evidence);
  const double launching = evidence.number("launch_share").value_or(0);
  if (with_launches && launching > host->value) return std::nullopt;  // launch_bound has both
  if (with_launches) host = less(*host, -launching);
  // Of several causes the largest one can be removed.
  if (const auto cause = evidence.number("host_cause_share"); cause && *cause < host->value) host = Share{*cause};
  if (host->value < host_moderate.value) return std::nullopt;
  Finding finding = make_finding(host_bound, kind, *host, host_moderate.value, evidence.words());
  const bool is_between_steps =
      kind == to_string(HostCauseKind::evaluation) || kind == to_string(HostCauseKind::saving);
  finding.evidence =
      is_between_steps ? fmt::format("training stands still {} of the time", share_text(*host))
      : evidence.has_own_memory()
          ? fmt::format("the device idles {} of the step while the host computes or waits", share_text(*host))
          : fmt::format("the thread that runs the steps is outside of operators {} of the time", share_text(*host));
  if (with_launches)
    finding.evidence +=
        fmt::format(", {} of it in launches: kernels begin {} after their launch, so the host never leads",
                    percent_text(launching), format_seconds(*evidence.number("launch_lead_s")));
  finding.evidence += ": " + evidence.text("host_cause");
  if (const auto cause = evidence.kind("host_cause_kind", host_cause_kinds)) finding.remedies = remedies_of(*cause);
  return finding;
}

std::optional<Finding> judge_host(const Evidence& evidence) {
  if (evidence.is_of(StepsOf::foreign)) return judge_foreign_host(evidence);
  std::optional<Share> host = evidence.share("host_share");
  if (host) host = less(*host, host_time_of_late_replica(evidence));
  if (!host || host->value < host_moderate.value) return std::nullopt;
  const std::string_view kind = evidence.is_loop()      ? loop_kind.in(evidence.words())
                                : evidence.is_eager()   ? "eager execution"
                                : evidence.is_planned() ? "callbacks or synchronization"
                                                        : "";
  Finding finding = make_finding(host_bound, kind, *host, host_moderate.value, evidence.words());
  finding.evidence = fmt::format("the device idles {} of the step while the host computes or waits", share_text(*host));
  if (const auto time = evidence.number("host_time_s"))
    finding.evidence += fmt::format("; the host needs {} for a step", format_seconds(*time));
  if (evidence.is_loop())
    finding.remedies = {Remedy::compiled_step, Remedy::fewer_synchronizations};
  else if (evidence.is_eager())
    finding.remedies = {Remedy::graph, Remedy::fewer_synchronizations};
  else if (evidence.is_planned())
    finding.remedies = {Remedy::fewer_callbacks, Remedy::fewer_synchronizations, Remedy::larger_batch};
  else
    finding.remedies.assign(usual_remedies.begin(), usual_remedies.end());
  return finding;
}

}  // namespace

const FindingRule host_bound{
    .name = "host_bound",
    .title = "host bound",
    .meaning =
        "The device waits for the host: for Lua that runs in every step, for callbacks, or because the host "
        "waits for a result before it goes on.",
    .rule =
        "host_share reaches the limit, without the host's time of a late replica for which the others wait. Lua in "
        "every step: a loop of the script; eager execution; callbacks or synchronization: a planned step. Nothing of "
        "these is said where the row does not say how steps are executed. Of traces: what the thread that launches did "
        "(host_cause_kind), with the launches where launch_lead_s is below 30 us.",
    .thresholds = host_thresholds,
    .remedies = host_remedies,
    .proof =
        in_words("the same point with the step compiled, or without callbacks: host_share falls with the step time",
                 "the same step compiled, or without callbacks: it gets faster, and the host's share falls"),
    .judge = &judge_host,
};

}  // namespace gpubench
