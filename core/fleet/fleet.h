// Machines of one or several histories, by suite and model: what each of them measured in which night.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/fleet/fleet_reader.h"
#include "core/fleet/siblings.h"

namespace gpubench {

/// A device of a host: a card in a slot.
struct FleetMachine {
  std::string host, slot, card;
  std::string model;
};

/// What was measured tonight, reliable or not. NaN: nothing.
struct TonightValue {
  double value;
  bool reliable;
};

/// Machines of one model, as one suite has measured them.
struct FleetGroup {
  std::string suite, model;
  std::vector<FleetMachine> machines;
  std::vector<FleetFigure> figures;
  std::vector<std::string> dates;  ///< of the nights
  Siblings siblings;
  std::vector<std::vector<TonightValue>> tonight;  ///< by figure and machine
  /// Models that have too few machines are compared by their share of what each of them should reach.
  bool of_shares = false;
};

/// A host, or one device of it, without figures tonight.
struct NotReported {
  std::string host, slot, suite;  ///< slot: empty where the whole host did not report
  std::string last;               ///< the date of its last night
  std::size_t nights = 0;         ///< that it has missed
};

struct Fleet {
  std::vector<std::string> hosts;
  std::vector<FleetGroup> groups;
  std::vector<NotReported> not_reported;
  std::vector<std::string> notes;
};

/// The figure whose values are shares of what a device should reach: it compares different models.
inline constexpr std::string_view share_of_peak = "reference_share";

/// `suite`: only that one; all if empty. Runs by hand count only where no suite was run. Throws Error for a suite that
/// nobody has run.
Fleet fleet_of(const FleetReader& read, const std::string& suite = {});

}  // namespace gpubench
