// What is not known, as a finding: its gain is the part of the step that no class explains. It is the verdict where
// that part is larger than what any other finding could gain.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/units.h"
#include "core/diagnose/rules/rules.h"
#include "core/results/step_classes.h"

namespace gpubench {
namespace {

constexpr Threshold unexplained{"unexplained", 0.05, "5 % of the step",
                                "the limit at which the program calls a breakdown unreliable"};
constexpr Threshold observed{"observed", 0.20,
                             "20 % of the traced steps' time taken by tracing, or more than in measured steps",
                             "a share may be off by as much as tracing took"};
constexpr std::array unknown_thresholds = {unexplained, observed};

/// The classes without a value, and the part of the step that they may have.
struct Unknown {
  std::vector<std::string_view> columns;
  double share = 0;
};

Unknown unknown_in(const Evidence& evidence) {
  Unknown unknown;
  double known = 0;
  for (const StepClass& one : step_classes) {
    const bool is_absent =
        evidence.replicas() == 1 && (one.first == SpanClass::communication || one.first == SpanClass::peer_wait);
    if (const auto share = evidence.number(one.column))
      known += *share;
    else if (!is_absent)
      unknown.columns.push_back(one.column);
  }
  if (!evidence.has("compute_share")) known += evidence.number("mfu").value_or(0);
  if (!unknown.columns.empty()) unknown.share = std::clamp(1 - known, 0.0, 1.0);
  return unknown;
}

constexpr Wording idle_machine =
    in_words("an idle machine (--wait-idle 600), or larger steps", "an idle machine, or larger steps");
constexpr Wording trace_training = {"gb.measure.training(model, dataset, { trace = true })",
                                    "torch.profiler.profile() around some steps of a training",
                                    "tf.profiler.experimental.start(\"<FOLDER>\") before some steps of a training",
                                    "jax.profiler.trace(\"<FOLDER>\") around some steps of a training"};
constexpr Wording trace_steps = {"the option { trace = true } of the measurement",
                                 "torch.profiler.profile() around some steps",
                                 "tf.profiler.experimental.start(\"<FOLDER>\") before some steps",
                                 "jax.profiler.trace(\"<FOLDER>\") around some steps"};
constexpr Wording look_at_trace = {"the option { trace = true } writes a trace for Perfetto",
                                   "profile.export_chrome_trace(\"<FILE>\") writes a trace for Perfetto",
                                   "the profile's trace viewer in TensorBoard", "the profile's trace viewer in XProf"};

Finding unknown_finding(double share, const std::string& reason, std::string why, std::string_view flag) {
  Finding finding = make_finding(cannot_tell, "", {share}, 0, Words::lua);
  finding.headline = "cannot tell: " + reason;
  finding.evidence = std::move(why);
  finding.flag = flag;
  return finding;
}

std::optional<Finding> judge_unknown(const Evidence& evidence) {
  if (!evidence.ok()) return std::nullopt;
  if (const Doubt doubt = evidence.doubt(); doubt && evidence.is_of(StepsOf::foreign))
    return unknown_finding(1, doubt.text, evidence.text("detail"), "");
  if (const Doubt doubt = evidence.doubt())
    return unknown_finding(1, "the row is unreliable", doubt.text, words_of(doubt.kind).remedy);
  if (const auto tracing = evidence.number("observer_share"); tracing && *tracing > observed.value) {
    return unknown_finding(1, "tracing slowed the traced steps",
                           fmt::format("tracing took {} of their time", percent_text(*tracing)),
                           idle_machine.in(evidence.words()));
  }
  const auto traced = evidence.number("traced_step_time_s"), timed = evidence.step_s();
  if (traced && timed && !evidence.is_of(StepsOf::foreign) && *timed < (1 - observed.value) * *traced) {
    return unknown_finding(
        1 - *timed / *traced,
        fmt::format("the traced steps took {:.2g} times as long as the measured ones", *traced / *timed),
        fmt::format("{} and {}: the shares are those of other steps", format_seconds(*traced), format_seconds(*timed)),
        idle_machine.in(evidence.words()));
  }
  const Unknown unknown = unknown_in(evidence);
  if (unknown.share > unexplained.value) {
    std::string empty = fmt::format("empty columns: {}", fmt::join(unknown.columns, ", "));
    if (const std::string detail = evidence.text("detail"); !detail.empty()) empty += "; " + detail;
    const Wording& flag = evidence.is_inference() ? trace_training : trace_steps;
    return unknown_finding(unknown.share,
                           fmt::format("{} of the step is divided among no class", percent_text(unknown.share)),
                           std::move(empty), flag.in(evidence.words()));
  }
  // What a framework's own loop does belongs to no class, and is known.
  const double other = evidence.number("other_share").value_or(0) - evidence.number("framework_share").value_or(0);
  if (other <= unexplained.value) return std::nullopt;
  if (evidence.is_of(StepsOf::foreign))
    return unknown_finding(
        other, fmt::format("the trace does not say what the device waits for in {} of the step", percent_text(other)),
        evidence.text("detail"), "");
  return unknown_finding(other, fmt::format("{} of the step belong to no class", percent_text(other)),
                         "no span of the traced steps covers them", look_at_trace.in(evidence.words()));
}

}  // namespace

const FindingRule cannot_tell{
    .name = "cannot_tell",
    .title = "cannot tell",
    .meaning = "What is known of the step does not say why the device was not busy.",
    .rule =
        "The row is unreliable (quality), tracing slowed the steps that give the shares (observer_share), or these "
        "took longer than the measured ones, columns of classes are empty, or other_share without framework_share "
        "exceeds the limit: the "
        "unknown part of the step counts as its gain.",
    .thresholds = unknown_thresholds,
    .remedies = {},
    .proof = in_all_words("the figures that are missing: `to know more` says how to get them"),
    .judge = &judge_unknown,
};

}  // namespace gpubench
