#include "core/report/chart/scale.h"

#include <array>
#include <fmt/format.h>
#include <span>
#include <string_view>

#include "core/report/text/run_table.h"

namespace gpubench {
namespace {

struct Step {
  double size;
  std::string_view name;
};

// Ascending; the last whose size is not above the largest value is taken, else the first.
constexpr std::array second_scale = {Step{1e-9, "ns"}, Step{1e-6, "µs"}, Step{1e-3, "ms"}, Step{1, "s"}};
constexpr std::array byte_scale = {Step{1, "B"}, Step{1024, "KiB"}, Step{1 << 20, "MiB"}, Step{1 << 30, "GiB"}};
constexpr std::array prefixes = {Step{1, ""}, Step{1e3, "k"}, Step{1e6, "M"}, Step{1e9, "G"}, Step{1e12, "T"}};
constexpr std::array word_scale = {Step{1, ""}, Step{1e3, "thousand"}, Step{1e6, "million"}, Step{1e9, "billion"}};

const Step& step_for(std::span<const Step> steps, double largest) {
  std::size_t chosen = 0;
  while (chosen + 1 < steps.size() && steps[chosen + 1].size <= largest) ++chosen;
  return steps[chosen];
}

// Beside its unit a name needs none: "flops (GFLOP/s)", "activations (MiB)".
std::string counted_in(const Column& column) {
  std::string text = heading_of(column);
  if (text.ends_with("/s")) text.erase(text.size() - 2);
  return text;
}

}  // namespace

std::string quantity_of(const Column& column) {
  std::string text = heading_of(column);
  return column.unit == Unit::bytes && text.find("memory") == std::string::npos ? text + " bytes" : text;
}

AxisScale axis_scale(const Column& column, double largest) {
  const auto with_unit = [&](const Step& step, std::string_view unit) {
    return AxisScale{1 / step.size, fmt::format("{} ({}{})", counted_in(column), step.name, unit)};
  };
  switch (column.unit) {
    case Unit::seconds:
      return with_unit(step_for(second_scale, largest), "");
    case Unit::bytes:
      return with_unit(step_for(byte_scale, largest), "");
    case Unit::bytes_per_second:
      return with_unit(step_for(prefixes, largest), "B/s");
    case Unit::flops:
      return with_unit(step_for(prefixes, largest), "FLOP");
    case Unit::flops_per_second:
      return with_unit(step_for(prefixes, largest), "FLOP/s");
    case Unit::per_second: {
      const Step& step = step_for(word_scale, largest);
      const std::string heading = heading_of(column);
      return {1 / step.size, step.name.empty() ? heading : fmt::format("{} ({})", heading, step.name)};
    }
    case Unit::share:
      return {100, heading_of(column) + " (%)"};
    case Unit::hertz:
      return with_unit(step_for(prefixes, largest), "Hz");
    case Unit::watts:
    case Unit::joules:
    case Unit::celsius:
      return {1, fmt::format("{} ({})", heading_of(column), to_string(column.unit))};
    case Unit::none:
      break;
  }
  return {1, heading_of(column)};
}

}  // namespace gpubench
