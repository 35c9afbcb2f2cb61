// Graph to graph. A pass has a name, can be switched off by it, is timed, and must not change results beyond rounding.
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/graph/graph.h"

namespace gpubench {

/// A graph and its results.
struct Program {
  Graph graph;
  std::vector<Value> outputs;
};

/// Whether `device` computes `op`, which a pass would make of several ops, and in less time than they take. Asked where
/// that depends on the device; what helps everywhere is not.
using Fuses = std::function<bool(const DeviceId& device, const Op& op, std::span<const TensorType> inputs)>;

struct Pass {
  enum class Kind : std::uint8_t {
    required,  ///< executors rely on it
    optional,  ///< makes a step faster; can be switched off
  };
  std::string_view name;
  Program (*run)(Program program, const Fuses& fuses);
  Kind kind = Kind::optional;
};

/// Every pass, in the order in which they run.
std::span<const Pass> all_passes();

struct PassOptions {
  /// Names of passes that are left out. Throws Error at apply_passes() when one is unknown.
  std::set<std::string> disabled;
};

struct PassTiming {
  std::string_view name;
  Seconds time{};
};

/// Without `fuses`, no device has ops of its own.
Program apply_passes(Program program, const PassOptions& options, const Fuses& fuses = {},
                     std::vector<PassTiming>* timings = nullptr);

}  // namespace gpubench
