// What a remedy changes in a step, as data: how much of the step it is expected to remove, and how many times as fast
// the step becomes at most, follow from that in one place.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "core/diagnose/evidence.h"
#include "core/diagnose/finding.h"

namespace gpubench {

/// The parts of a step that a remedy can remove, divide or replace. The waterfall shows the same division; here each
/// part has the ends of its interval too, because a bound must hold at these ends.
enum class StepPart : std::uint8_t {
  arithmetic,        ///< of the examples, at the rate of the best matrix product
  fixed_arithmetic,  ///< the same for what a step computes whatever its batch is, such as the update of weights
  slow_kernels,      ///< what kernels take longer than their arithmetic
  launches,
  copies,
  input,
  exchanges,
  late_replicas,  ///< waiting for one, and the host's time for which that one is late
  host,           ///< without the latter
  other,
};
inline constexpr std::size_t step_part_count = 10;

/// A set of parts.
class StepParts {
 public:
  constexpr StepParts() = default;
  constexpr StepParts(std::initializer_list<StepPart> parts) {
    for (const StepPart part : parts) bits_ |= bit(part);
  }
  constexpr bool has(StepPart part) const { return (bits_ & bit(part)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr StepParts operator|(StepParts a, StepParts b) {
    a.bits_ |= b.bits_;
    return a;
  }

 private:
  static constexpr unsigned bit(StepPart part) { return 1U << static_cast<unsigned>(part); }
  unsigned bits_ = 0;
};

/// All parts but the arithmetic of the examples.
inline constexpr StepParts all_but_arithmetic{StepPart::fixed_arithmetic, StepPart::slow_kernels, StepPart::launches,
                                              StepPart::copies,           StepPart::input,        StepPart::exchanges,
                                              StepPart::late_replicas,    StepPart::host,         StepPart::other};

/// By part its share of the step; nothing where columns are missing.
using StepDivision = std::array<std::optional<Share>, step_part_count>;
StepDivision division_of(const Evidence& evidence);

inline const std::optional<Share>& part_of(const StepDivision& division, StepPart part) {
  return division[static_cast<std::size_t>(part)];
}

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
