// What differs between the environments of two sides, read from run.json, and what may therefore have caused a change.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/compare/side.h"

namespace gpubench {

/// In the order in which causes are named: a change of the method makes the others doubtful.
enum class FactOrigin {
  method,       ///< script, options, seed, data
  code,         ///< the program and its build
  environment,  ///< driver, libraries, kernel, settings of the system
  machine       ///< another machine or device
};
std::string_view to_string(FactOrigin origin);

/// By key: "program.commit", "devices.gpu:0.details.driver", "script.lua" (a checksum).
using Facts = std::map<std::string, std::string>;

/// What a run says of what it ran on. What changes from run to run on one machine is left out. `info`: run.json;
/// `script`: empty if unknown.
Facts fingerprint_of(const Info& info, const std::string& script);
/// None for a key that is part of no fingerprint.
std::optional<FactOrigin> origin_of(const std::string& key);

struct Difference {
  /// "program.commit", "devices.gpu:0.details.driver", "script.lua".
  std::string key;
  FactOrigin origin = FactOrigin::method;
  /// By side; several values of one side are joined by " | ", "none" stands for a fact that the side lacks.
  std::vector<std::string> values;
};

/// Only keys that differ between sides, by origin. What changes from run to run on one machine (load, free memory,
/// temperature) is no difference. Facts that a side lacks altogether, as results of others do, are not compared.
std::vector<Difference> differences_between(std::span<const Side> sides);
std::vector<Difference> differences_between(std::span<const Facts> sides);

/// What is said of a fact that differs: its key, or its values too ("program.commit a -> b").
enum class CauseDetail { keys, values };

/// "code (program.commit); environment (machine.kernel)"; empty if nothing differs. `side` is compared with the first
/// one.
std::string cause_text(std::span<const Difference> differences, std::size_t side, CauseDetail detail);

}  // namespace gpubench
