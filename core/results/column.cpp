#include "core/results/column.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <ranges>
#include <utility>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/base/shown_text.h"

namespace gpubench {
namespace {

struct Ending {
  std::string_view text;
  Unit unit;
  Better better;
  Kind kind;
};

// The first that fits: a longer ending stands before its own ending.
constexpr std::array endings = {
    Ending{"flops_per_s", Unit::flops_per_second, Better::higher, Kind::time},
    Ending{"bytes_per_s", Unit::bytes_per_second, Better::higher, Kind::time},
    Ending{"_per_s", Unit::per_second, Better::higher, Kind::time},
    Ending{"_s", Unit::seconds, Better::lower, Kind::time},
    Ending{"_bytes", Unit::bytes, Better::lower, Kind::memory},
    Ending{"_share", Unit::share, Better::neither, Kind::time},
    Ending{"accuracy", Unit::share, Better::higher, Kind::learned},
    Ending{"flops", Unit::flops, Better::neither, Kind::counted},
    Ending{"_w", Unit::watts, Better::lower, Kind::sensor},
    Ending{"_j", Unit::joules, Better::lower, Kind::sensor},
    Ending{"_hz", Unit::hertz, Better::neither, Kind::sensor},
    Ending{"loss", Unit::none, Better::lower, Kind::learned},
};

constexpr EnumNames<Unit, 12> units{
    "unknown unit of a column", {"", "s", "bytes", "1/s", "FLOP", "FLOP/s", "bytes/s", "share", "W", "J", "Hz", "°C"}};
constexpr EnumNames<Better, 3> directions{"unknown direction of a column", {"", "lower", "higher"}};
constexpr EnumNames<Kind, 9> kinds{
    "unknown kind of a column",
    {"unknown", "text", "setting", "extent", "counted", "time", "memory", "sensor", "learned"}};

const Column* named(std::string_view name, std::span<const Column> columns) {
  const auto found = std::ranges::find(columns, name, &Column::name);
  return found == columns.end() ? nullptr : &*found;
}

}  // namespace

std::string_view to_string(Unit unit) {
  return units[unit];
}
std::string_view to_string(Better better) {
  return directions[better];
}

std::string_view to_string(Kind kind) {
  return kinds[kind];
}
Unit parse_unit(std::string_view text) {
  return units.parse(text);
}
Better parse_better(std::string_view text) {
  return directions.parse(text);
}
Kind parse_kind(std::string_view text) {
  return kinds.parse(text);
}

const Column* find_standard_column(std::string_view name) {
  return named(name, standard_columns());
}

Column column_of(std::string_view name) {
  if (const Column* standard = find_standard_column(name)) return *standard;
  if (const Column* optional = named(name, optional_columns())) return *optional;
  for (const Ending& ending : endings) {
    if (name.ends_with(ending.text)) return {std::string(name), ending.unit, ending.better, ending.kind};
  }
  for (const std::string_view end : {"_low", "_high"}) {
    if (!name.ends_with(end)) continue;
    const Column column = column_of(name.substr(0, name.size() - end.size()));
    return {std::string(name), column.unit, column.better, column.kind};
  }
  return {std::string(name)};
}

double parse_threshold(std::string_view text) {
  constexpr double most = 50;
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (error == std::errc() && rest == "%" && percent > 0 && percent <= most) return percent / 100;
  throw Error(fmt::format("threshold '{}': per cent are expected, above 0 and at most {}, such as '3 %'", text, most));
}

void check_column_name(std::string_view name) {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) || c == '_'; };
  const auto fits = [&](unsigned char c) { return is_letter(c) || std::isdigit(c) || c == '-' || c == '.'; };
  if (!name.empty() && is_letter(name.front()) && std::ranges::all_of(name, fits)) return;
  throw Error(fmt::format("'{}' cannot name a column: letters, digits, '_', '-' and '.', a letter or '_' first",
                          shown_text(name)));
}

bool may_be_axis(std::string_view name) {
  constexpr std::array<std::string_view, 5> set_by_sweeps = {"device", "execution", "precision", "replicas",
                                                             "batch_size"};
  return find_standard_column(name) == nullptr || std::ranges::find(set_by_sweeps, name) != set_by_sweeps.end();
}

std::string_view unit_suffix(const Column& column) {
  const std::string_view name = column.name;
  // "_c" means a unit only in declared columns: a script's own name may end so.
  if (column.unit == Unit::celsius && name.ends_with("_c")) return name.substr(name.size() - 2);
  for (const Ending& each : endings) {
    const std::string_view ending = each.text;
    if (!ending.starts_with('_') || !name.ends_with(ending) || name.size() == ending.size()) continue;
    return name.substr(name.size() - ending.size());
  }
  return {};
}

std::string_view quality_column(Kind kind) {
  if (kind == Kind::time || kind == Kind::sensor || kind == Kind::unknown) return "quality";
  return kind == Kind::memory ? "memory_quality" : "";
}

std::string interval_end(const Column& column, std::string_view end) {
  const std::string_view unit = unit_suffix(column);
  const std::string_view stem = std::string_view(column.name).substr(0, column.name.size() - unit.size());
  return std::string(stem).append("_").append(end).append(unit);
}

}  // namespace gpubench
