// What differs between the environments of two sides, read from run.json, and what may therefore have caused a change.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/compare/side.h"

namespace gpubench {

enum class FactOrigin {
  code,         ///< the program and its build
  environment,  ///< driver, libraries, kernel, settings of the system
  machine,      ///< another machine or device
  method        ///< script, options, seed, data
};
std::string_view to_string(FactOrigin origin);

struct Difference {
  /// "program.commit", "devices.gpu:0.details.driver", "script.lua".
  std::string key;
  FactOrigin origin = FactOrigin::code;
  /// By side; several values of one side are joined by " | ", "-" stands for none.
  std::vector<std::string> values;
};

/// Only keys that differ between sides, by origin. What changes from run to run on one machine (load, free memory,
/// temperature) is no difference. Facts that a side lacks altogether, as results of others do, are not compared.
std::vector<Difference> differences_between(std::span<const Side> sides);

/// "code (program.commit)", or "noise or the state of the machine: no fingerprint differs". `side` is compared with the
/// first one.
std::string cause_text(std::span<const Difference> differences, std::size_t side);

}  // namespace gpubench
