// The parts of a step that a remedy can remove, divide or replace, and how long each takes. The waterfall shows the
// same division; here each part has the ends of its interval too, because a bound must hold at these ends.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "core/diagnose/evidence.h"

namespace gpubench {

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

}  // namespace gpubench
