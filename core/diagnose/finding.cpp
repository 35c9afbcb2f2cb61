#include "core/diagnose/finding.h"

#include <algorithm>
#include <fmt/format.h>

namespace gpubench {

Finding make_finding(const FindingRule& rule, std::string_view kind, const Share& gain, double least, Words words,
                     std::string_view title) {
  Finding finding;
  finding.rule = &rule;
  finding.title = title.empty() ? rule.title : title;
  finding.gain = gain;
  const std::string variant = kind.empty() ? "" : fmt::format(" ({})", kind);
  finding.headline = fmt::format("{}{}: {} of the step", finding.title, variant, percent_text(gain.value));
  finding.kind = kind;
  if (gain.interval && gain.interval->low < least) {
    finding.doubt = fmt::format("its interval {} reaches below the limit of {}", share_text(gain), percent_text(least));
    finding.flag = measure_longer.in(words);
  }
  return finding;
}

Share less(Share share, double part) {
  const auto rest = [part](double value) { return std::max(0.0, value - part); };
  share.value = rest(share.value);
  if (share.interval) share.interval = Interval{rest(share.interval->low), rest(share.interval->high)};
  return share;
}

std::string percent_text(double share) {
  constexpr double small = 0.0095;
  return share > 0 && share < small ? fmt::format("{:.1f} %", 100 * share) : fmt::format("{:.0f} %", 100 * share);
}

std::string share_text(const Share& share) {
  if (!share.interval) return percent_text(share.value);
  return fmt::format("{} [{}, {}]", percent_text(share.value), percent_text(share.interval->low),
                     percent_text(share.interval->high));
}

}  // namespace gpubench
