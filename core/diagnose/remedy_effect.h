// What a remedy changes in a step, as data: how much of the step it is expected to remove, and how many times as fast
// the step becomes at most, follow from that in one place.
#pragma once
#include <optional>
#include <span>

#include "core/diagnose/finding.h"
#include "core/diagnose/step_parts.h"

namespace gpubench {

/// What kernels compute with afterwards.
enum class Arithmetic : std::uint8_t { same, bits_16, tf32 };

struct RemedyEffect {
  Remedy remedy;
  /// What it is for: these parts may disappear.
  StepParts removes;
  /// What may get shorter beside them.
  StepParts shortens{};
  /// It works during the rest of the step, so that no more than the rest's time is hidden.
  bool hides = false;
  /// It takes work from the host's cores: kernels that share them may get as fast as their arithmetic.
  bool frees_host = false;
  /// It moves work between replicas.
  bool moves_work = false;
  /// Kernels keep their place below the peak of another arithmetic.
  Arithmetic arithmetic = Arithmetic::same;
};

/// In the order of the enum.
std::span<const RemedyEffect> remedy_effects();
const RemedyEffect& effect_of(Remedy remedy);

/// Old over new time of an example, at most: 1 over the share of the step that certainly stays, with the ends of all
/// intervals. Nothing if that is not known.
std::optional<double> at_most_times_as_fast(Remedy remedy, const Evidence& evidence);

/// The share of the step that the remedy is expected to remove: the gains of the findings that propose it, which are
/// about different parts of the step, as far as it removes these parts. Nothing if none proposes it.
std::optional<Share> expected_gain(Remedy remedy, std::span<const Finding> findings, const Evidence& evidence);

}  // namespace gpubench
