#include "core/compare/foreign/figure_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/shown_text.h"

namespace gpubench {
namespace {

/// A word that states the unit at a name's end.
struct UnitWord {
  std::string_view word;
  /// What the name ends with here.
  std::string_view ending;
  double scale;
};

constexpr std::array unit_words = {
    UnitWord{"s", "s", 1},
    UnitWord{"sec", "s", 1},
    UnitWord{"secs", "s", 1},
    UnitWord{"second", "s", 1},
    UnitWord{"seconds", "s", 1},
    UnitWord{"ms", "s", 1e-3},
    UnitWord{"msec", "s", 1e-3},
    UnitWord{"millisecond", "s", 1e-3},
    UnitWord{"milliseconds", "s", 1e-3},
    UnitWord{"us", "s", 1e-6},
    UnitWord{"\u00B5s", "s", 1e-6},
    UnitWord{"\u03BCs", "s", 1e-6},
    UnitWord{"usec", "s", 1e-6},
    UnitWord{"microsecond", "s", 1e-6},
    UnitWord{"microseconds", "s", 1e-6},
    UnitWord{"ns", "s", 1e-9},
    UnitWord{"nsec", "s", 1e-9},
    UnitWord{"nanosecond", "s", 1e-9},
    UnitWord{"nanoseconds", "s", 1e-9},
    UnitWord{"fps", "frames_per_s", 1},
    UnitWord{"bytes", "bytes", 1},
    UnitWord{"hz", "hz", 1},
};

/// Only in brackets: "Noise (%)".
constexpr std::array bracket_words = {UnitWord{"%", "share", 1e-2}, UnitWord{"w", "w", 1}, UnitWord{"j", "j", 1}};

/// Words whose direction is known, whatever the unit.
struct DirectionWord {
  std::string_view word;
  Better better;
};

constexpr std::array direction_words = {
    DirectionWord{"throughput", Better::higher}, DirectionWord{"bandwidth", Better::higher},
    DirectionWord{"latency", Better::lower},     DirectionWord{"duration", Better::lower},
    DirectionWord{"runtime", Better::lower},
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_column_name(std::string_view name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; };
  return !name.empty() && std::ranges::all_of(name, fits) &&
         (std::isalpha(static_cast<unsigned char>(name.front())) != 0 || name.front() == '_');
}

struct SplitName {
  std::string_view stem, unit;
  bool in_brackets = false;
};

/// "Time (s)" as "Time" and "s"; "time_ms" as "time" and "ms"; "seconds" as "" and "seconds".
SplitName split(std::string_view name) {
  name = trimmed(name);
  for (const auto& [open, close] : {std::pair{'(', ')'}, {'[', ']'}}) {
    const std::size_t at = name.rfind(open);
    if (!name.ends_with(close) || at == std::string_view::npos) continue;
    return {trimmed(name.substr(0, at)), trimmed(name.substr(at + 1, name.size() - at - 2)), true};
  }
  const std::size_t at = name.find_last_of("_ -.");
  if (at == std::string_view::npos) return {{}, name};
  return {trimmed(name.substr(0, at)), name.substr(at + 1)};
}

/// "gb" of "bandwidth_gb_s", which is no time.
constexpr std::array<std::string_view, 14> amount_words = {"b",   "kb",  "mb",   "gb",   "tb",    "kib",    "mib",
                                                           "gib", "bit", "mbit", "gbit", "flops", "gflops", "tflops"};

template <class Words>
const UnitWord* find_word(const Words& words, std::string_view word) {
  const auto found = std::ranges::find(words, word, &UnitWord::word);
  return found == words.end() ? nullptr : &*found;
}

ForeignColumn with_ending(std::string_view stem, std::string_view ending, double scale) {
  std::string name = stem.empty() ? "" : column_name_of(stem);
  if (name.empty() && ending == "s") name = "time";
  if (!name.empty()) name += '_';
  return {column_of(name.append(ending)), scale};
}

/// "bytes/s", "elem/sec" and "examples per second" as "bytes_per_s" and so on; empty for what is no rate.
std::string rate_of(std::string_view unit) {
  for (const std::string_view per : {"/", "_per_", " per "}) {
    const std::size_t at = unit.rfind(per);
    if (at == std::string_view::npos) continue;
    const UnitWord* const word = find_word(unit_words, unit.substr(at + per.size()));
    if (word == nullptr || word->ending != "s" || word->scale != 1) return {};
    return (at == 0 ? "" : column_name_of(unit.substr(0, at)) + "_") + "per_s";
  }
  return {};
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::string column_name_of(std::string_view name) {
  if (is_column_name(name)) return std::string(name);
  std::string cleaned;
  for (const char c : trimmed(name)) {
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.';
    if (fits)
      cleaned += c;
    else if (!cleaned.ends_with('_'))
      cleaned += '_';
  }
  if (cleaned.size() > 1 && cleaned.ends_with('_')) cleaned.pop_back();
  if (std::ranges::none_of(cleaned, [](unsigned char c) { return std::isalnum(c) != 0; }))
    throw Error(fmt::format("'{}' cannot name a column: a letter or a digit is expected", shown_text(name)));
  return is_column_name(cleaned) ? cleaned : "_" + cleaned;
}

ForeignColumn foreign_column(std::string_view name) {
  const auto [stem, word, in_brackets] = split(name);
  const std::string unit = lower_case(word), before = lower_case(stem);
  if (before.find("timestamp") != std::string::npos) return {{column_name_of(name)}};  // no duration
  if (unit == "s" && std::ranges::find(amount_words, split(before).unit) != amount_words.end())
    return with_ending(stem, "per_s", 1);
  if (is_column_name(name))
    if (Column column = column_of(name); column.kind != Kind::unknown) return {std::move(column)};
  const std::string rate = rate_of(in_brackets ? unit : lower_case(trimmed(name)));
  if (!rate.empty()) return with_ending(in_brackets ? stem : "", rate, 1);
  if (before.ends_with("per")) return {{column_name_of(name)}};  // "items_per_ms"
  if (const UnitWord* const found = find_word(unit_words, unit)) return with_ending(stem, found->ending, found->scale);
  if (const UnitWord* const found = find_word(bracket_words, unit); found != nullptr && in_brackets)
    return with_ending(stem, found->ending, found->scale);
  Column column = column_of(column_name_of(name));
  const auto known = std::ranges::find(direction_words, unit, &DirectionWord::word);
  if (column.kind == Kind::unknown && known != direction_words.end()) {
    column.better = known->better;
    column.kind = Kind::time;
  }
  return {std::move(column)};
}

}  // namespace gpubench
