#include "core/diagnose/waterfall.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace gpubench {
namespace {

struct ClassTerm {
  std::string_view column, name, meaning;
};

// In the order of the waterfall, behind the kernels.
constexpr std::array class_terms = {
    ClassTerm{"launch_share", "launches", "the device idles while the host launches work"},
    ClassTerm{"copy_share", "copies", "only copies and fills run"},
    ClassTerm{"input_wait_share", "input", "the step waits for its batch"},
    ClassTerm{"communication_share", "exchanges", "replicas exchange, and no kernel runs"},
    ClassTerm{"peer_wait_share", "late replicas", "replicas wait for a late one"},
    ClassTerm{"host_share", "host", "the device idles while the host computes or waits"},
};
constexpr std::string_view rest_name = "other", rest_meaning = "what no class explains";
/// Less than this is rounding.
constexpr double least_term = 1e-9;

void add(std::vector<WaterfallTerm>& terms, std::string_view name, std::string_view meaning, double share) {
  if (share > least_term) terms.push_back({name, meaning, 0, share});
}

/// The kernels' time, as far as it is known what they needed it for.
void add_kernels(std::vector<WaterfallTerm>& terms, const Evidence& evidence) {
  const auto mfu = evidence.number("mfu"), traffic = evidence.number("bandwidth_share");
  const std::optional<double> compute = evidence.number("compute_share");
  const double kernels = compute ? *compute : std::max(mfu.value_or(0), traffic.value_or(0));
  const double ideal = std::min(mfu.value_or(0), kernels);
  const double moved = std::min(std::max(traffic.value_or(0), ideal), kernels);
  add(terms, "ideal arithmetic", "the step's FLOP at the rate of the best matrix product", ideal);
  add(terms, "memory bandwidth", "what moving the kernels' bytes at the rate of the best copy takes longer",
      moved - ideal);
  const bool is_split = mfu || traffic;
  add(terms, is_split ? "kernels below their peak" : "kernels",
      is_split ? "kernels take longer than their arithmetic and their bytes need" : "kernels run", kernels - moved);
}

}  // namespace

Waterfall waterfall_of(const Evidence& evidence) {
  Waterfall waterfall;
  const std::optional<double> step = evidence.step_s();
  if (!step) return waterfall;
  waterfall.step_s = *step;
  std::vector<WaterfallTerm>& terms = waterfall.terms;
  add_kernels(terms, evidence);
  for (const ClassTerm& term : class_terms)
    add(terms, term.name, term.meaning, evidence.number(term.column).value_or(0));
  const double sum = std::accumulate(terms.begin(), terms.end(), 0.0,
                                     [](double so_far, const WaterfallTerm& term) { return so_far + term.share; });
  if (sum > 1) {
    for (WaterfallTerm& term : terms) term.share /= sum;
  } else {
    add(terms, rest_name, rest_meaning, 1 - sum);
  }
  for (WaterfallTerm& term : terms) term.seconds = term.share * *step;
  return waterfall;
}

}  // namespace gpubench
