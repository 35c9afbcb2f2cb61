// From the ideal step to the measured one: what each cause adds, in the order in which a step could lose it. The terms
// sum to the measured step.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "core/diagnose/evidence.h"

namespace gpubench {

struct WaterfallTerm {
  std::string_view name;     ///< "ideal arithmetic"
  std::string_view meaning;  ///< one line
  double seconds = 0;
  double share = 0;  ///< of the measured step
};

/// The mean measured step in seconds, and its terms; no terms where the step time is unknown.
struct Waterfall {
  double step_s = 0;
  std::vector<WaterfallTerm> terms;
};

/// The names of all terms, in their order.
std::span<const std::string_view> waterfall_terms();

/// Terms without evidence are left out; what no term explains is the last term. Where the classes exceed the step (the
/// shares of traced steps and of timed ones differ), all of them are reduced in proportion.
Waterfall waterfall_of(const Evidence& evidence);

}  // namespace gpubench
