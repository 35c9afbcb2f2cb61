// Attention that our own kernels compute, because a library's fused kernels cannot take it as the script asks for it.
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

constexpr Threshold own_attention_gain{"least gain", 0.05, "5 % of the step", "below the noise of most comparisons"};
constexpr std::array own_attention_thresholds = {own_attention_gain};
constexpr std::array own_attention_remedies = {Remedy::mixed_precision, Remedy::fused_attention, Remedy::padded_sizes};

std::optional<Finding> judge_own_attention(const Evidence& evidence) {
  const std::string reasons = evidence.text("own_attention");
  const std::optional<Share> own = evidence.share("own_attention_share");
  if (reasons.empty() || !own || own->value < own_attention_gain.value) return std::nullopt;
  Finding finding = make_finding(own_attention, reasons, *own, own_attention_gain.value, evidence.words());
  finding.evidence =
      fmt::format("our own kernels compute attention during {} of the step, because cuDNN's do not take it: {}",
                  share_text(*own), reasons);
  const auto is_one = [&](std::string_view reason) { return reasons.find(reason) != std::string::npos; };
  if (is_one("float32")) finding.remedies.push_back(Remedy::mixed_precision);
  if (is_one("dropout") || is_one("mask")) finding.remedies.push_back(Remedy::fused_attention);
  if (is_one("no engine")) finding.remedies.push_back(Remedy::padded_sizes);
  return finding;
}

}  // namespace

const FindingRule own_attention{
    .name = "own_attention",
    .title = "attention without cuDNN",
    .meaning = "Our own kernels compute attention, and not the fused ones of cuDNN, which multiply on tensor cores.",
    .rule = "own_attention has a reason, and own_attention_share reaches the limit.",
    .thresholds = own_attention_thresholds,
    .remedies = own_attention_remedies,
    .proof = in_all_words("the same point as cuDNN takes it: profiles show cudnn:attention, and the step gets faster"),
    .judge = &judge_own_attention,
};

}  // namespace gpubench
