#include "core/diagnose/waterfall.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/results/step_classes.h"

namespace gpubench {
namespace {

/// The classes between the kernels, which are divided further, and the rest.
constexpr auto middle_classes = std::span(step_classes).subspan<1, step_classes.size() - 2>();
static_assert(step_classes.front().first == SpanClass::compute && step_classes.back().last == SpanClass::other);
constexpr std::string_view ideal = "ideal arithmetic", bandwidth = "memory bandwidth",
                           below_peak = "kernels below their peak", kernels_in_all = "kernels",
                           rest = step_classes.back().name;
constexpr std::array kernel_terms = {ideal, bandwidth, below_peak, kernels_in_all};
/// Smaller terms would be shown as 0.0 %: they belong to the rest.
constexpr double least_term = 5e-4;
constexpr double rounding = 1e-12;

constexpr auto all_terms = [] {
  std::array<std::string_view, kernel_terms.size() + middle_classes.size() + 1> names{};
  std::size_t index = 0;
  for (const std::string_view name : kernel_terms) names[index++] = name;
  for (const StepClass& one : middle_classes) names[index++] = one.name;
  names[index] = rest;
  return names;
}();

void add(std::vector<WaterfallTerm>& terms, std::string_view name, std::string_view meaning, double share) {
  if (share > least_term) terms.push_back({name, meaning, 0, share});
}

/// The kernels' time, as far as it is known what they needed it for.
void add_kernels(std::vector<WaterfallTerm>& terms, const Evidence& evidence) {
  const auto mfu = evidence.number("mfu"), traffic = evidence.number("bandwidth_share");
  const std::optional<double> compute = evidence.number("compute_share");
  const double kernels = compute ? *compute : std::max(mfu.value_or(0), traffic.value_or(0));
  const double computed = std::min(mfu.value_or(0), kernels);
  const double moved = std::min(std::max(traffic.value_or(0), computed), kernels);
  add(terms, ideal, "the step's FLOP at the rate of the best matrix product", computed);
  add(terms, bandwidth, "what moving the kernels' bytes at the rate of the best copy takes longer", moved - computed);
  if (mfu || traffic) {
    add(terms, below_peak, "kernels take longer than their arithmetic and their bytes need", kernels - moved);
  } else {
    add(terms, kernels_in_all, "kernels run", kernels);
  }
}

}  // namespace

std::span<const std::string_view> waterfall_terms() {
  return all_terms;
}

Waterfall waterfall_of(const Evidence& evidence) {
  Waterfall waterfall;
  const std::optional<double> step = evidence.step_s();
  if (!step) return waterfall;
  waterfall.step_s = *step;
  std::vector<WaterfallTerm>& terms = waterfall.terms;
  add_kernels(terms, evidence);
  for (const StepClass& one : middle_classes)
    add(terms, one.name, one.meaning, evidence.number(one.column).value_or(0));
  const double sum = std::accumulate(terms.begin(), terms.end(), 0.0,
                                     [](double so_far, const WaterfallTerm& term) { return so_far + term.share; });
  if (sum > 1) {
    for (WaterfallTerm& term : terms) term.share /= sum;
  } else if (1 - sum > rounding) {
    terms.push_back({rest, step_classes.back().meaning, 0, 1 - sum});
  }
  for (WaterfallTerm& term : terms) term.seconds = term.share * *step;
  return waterfall;
}

}  // namespace gpubench
