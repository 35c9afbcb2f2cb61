#include "core/results/column.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr bool text_column = true;

const std::array standard_column_list = {
    Column{"experiment", Unit::none, Better::neither, text_column},
    Column{"point", Unit::none, Better::neither},
    Column{"process", Unit::none, Better::neither},
    Column{"status", Unit::none, Better::neither, text_column},
    Column{"detail", Unit::none, Better::neither, text_column},
    Column{"quality", Unit::none, Better::neither, text_column},
    Column{"device", Unit::none, Better::neither, text_column},
    Column{"execution", Unit::none, Better::neither, text_column},
    Column{"precision", Unit::none, Better::neither, text_column},
    Column{"replicas", Unit::none, Better::neither},
    Column{"batch_size", Unit::none, Better::neither},
    Column{"steps", Unit::none, Better::neither},
    Column{"examples_per_s", Unit::per_second, Better::higher},
    Column{"examples_low_per_s", Unit::per_second, Better::higher},
    Column{"examples_high_per_s", Unit::per_second, Better::higher},
    Column{"step_time_s", Unit::seconds, Better::lower},
    Column{"step_time_low_s", Unit::seconds, Better::lower},
    Column{"step_time_high_s", Unit::seconds, Better::lower},
    Column{"step_time_p95_s", Unit::seconds, Better::lower},
    Column{"warmup_s", Unit::seconds, Better::lower},
    Column{"compute_share", Unit::share, Better::higher},
    Column{"communication_share", Unit::share, Better::lower},
    Column{"peer_wait_share", Unit::share, Better::lower},
    Column{"copy_share", Unit::share, Better::lower},
    Column{"input_wait_share", Unit::share, Better::lower},
    Column{"launch_share", Unit::share, Better::lower},
    Column{"host_share", Unit::share, Better::lower},
    Column{"other_share", Unit::share, Better::lower},
    Column{"device_busy", Unit::share, Better::higher},
    Column{"flops_per_step", Unit::flops, Better::neither},
    Column{"flops_per_s", Unit::flops_per_second, Better::higher},
    Column{"flops_low_per_s", Unit::flops_per_second, Better::higher},
    Column{"flops_high_per_s", Unit::flops_per_second, Better::higher},
    Column{"mfu", Unit::share, Better::higher},
    Column{"mfu_low", Unit::share, Better::higher},
    Column{"mfu_high", Unit::share, Better::higher},
    Column{"peak_memory_bytes", Unit::bytes, Better::lower},
    Column{"reserved_memory_bytes", Unit::bytes, Better::lower},
    Column{"power_w", Unit::watts, Better::lower},
    Column{"energy_j_per_example", Unit::joules, Better::lower},
    Column{"loss", Unit::none, Better::lower},
    Column{"accuracy", Unit::share, Better::higher},
    Column{"verdict", Unit::none, Better::neither, text_column},
    Column{"stop_reason", Unit::none, Better::neither, text_column},
};

struct Ending {
  std::string_view text;
  Unit unit;
  Better better;
};

// The first that fits: a longer ending stands before its own ending.
constexpr std::array endings = {
    Ending{"flops_per_s", Unit::flops_per_second, Better::higher},
    Ending{"bytes_per_s", Unit::bytes_per_second, Better::higher},
    Ending{"_per_s", Unit::per_second, Better::higher},
    Ending{"_s", Unit::seconds, Better::lower},
    Ending{"_bytes", Unit::bytes, Better::lower},
    Ending{"_share", Unit::share, Better::neither},
    Ending{"accuracy", Unit::share, Better::higher},
    Ending{"flops", Unit::flops, Better::neither},
    Ending{"_w", Unit::watts, Better::lower},
    Ending{"_j", Unit::joules, Better::lower},
    Ending{"loss", Unit::none, Better::lower},
};

constexpr std::array<std::string_view, 10> unit_endings = {"",       "s",       "bytes", "1/s", "FLOP",
                                                           "FLOP/s", "bytes/s", "share", "W",   "J"};
constexpr std::array<std::string_view, 3> directions = {"", "lower", "higher"};

}  // namespace

std::string_view to_string(Unit unit) {
  return unit_endings[static_cast<std::size_t>(unit)];
}
std::string_view to_string(Better better) {
  return directions[static_cast<std::size_t>(better)];
}

std::span<const Column> standard_columns() {
  return standard_column_list;
}

const Column* find_standard_column(std::string_view name) {
  const auto* found = std::ranges::find(standard_column_list, name, &Column::name);
  return found == standard_column_list.end() ? nullptr : found;
}

Column column_of(std::string_view name) {
  if (const Column* standard = find_standard_column(name)) return *standard;
  for (const Ending& ending : endings) {
    if (name.ends_with(ending.text)) return {std::string(name), ending.unit, ending.better};
  }
  for (const std::string_view end : {"_low", "_high"}) {
    if (!name.ends_with(end)) continue;
    Column column = column_of(name.substr(0, name.size() - end.size()));
    column.name = name;
    return column;
  }
  return {std::string(name), Unit::none, Better::neither};
}

void check_column_name(std::string_view name) {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) || c == '_'; };
  const auto fits = [&](unsigned char c) { return is_letter(c) || std::isdigit(c) || c == '-' || c == '.'; };
  if (!name.empty() && is_letter(name.front()) && std::ranges::all_of(name, fits)) return;
  throw Error(fmt::format("'{}' cannot name a column: letters, digits, '_', '-' and '.', a letter or '_' first", name));
}

bool may_be_axis(std::string_view name) {
  constexpr std::array<std::string_view, 5> set_by_sweeps = {"device", "execution", "precision", "replicas",
                                                             "batch_size"};
  return find_standard_column(name) == nullptr || std::ranges::find(set_by_sweeps, name) != set_by_sweeps.end();
}

std::string_view unit_suffix(const Column& column) {
  const std::string_view name = column.name;
  for (const std::string_view suffix : {"_per_s", "_s", "_bytes", "_share", "_w", "_j"}) {
    if (name.ends_with(suffix) && name.size() > suffix.size()) return name.substr(name.size() - suffix.size());
  }
  return {};
}

bool depends_on_quality(const Column& column) {
  return column.unit != Unit::none && column.name.find("accuracy") == std::string::npos;
}

std::string interval_end(const Column& column, std::string_view end) {
  const std::string_view unit = unit_suffix(column);
  const std::string_view stem = std::string_view(column.name).substr(0, column.name.size() - unit.size());
  return std::string(stem).append("_").append(end).append(unit);
}

}  // namespace gpubench
