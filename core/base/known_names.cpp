#include "core/base/known_names.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/other_names.h"
#include "core/base/shown_text.h"

namespace gpubench {
namespace {

// Letters to insert, delete, replace or swap with their neighbour to make one word the other. Short words that differ
// in a letter are different words: "sub" and "sum".
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t replacing = std::max(a.size(), b.size()) < 4 ? 2 : 1;
  std::vector<std::size_t> before;
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> next(b.size() + 1);
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : replacing);
      next[j] = std::min({replaced, row[j] + 1, next[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before = std::exchange(row, std::move(next));
  }
  return row.back();
}

// In small letters, without underscores.
std::string without_style(std::string_view word) {
  std::string plain;
  for (const char letter : word) {
    if (letter != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return plain;
}

std::string digits_of(std::string_view word) {
  std::string digits;
  std::ranges::copy_if(word, std::back_inserter(digits),
                       [](unsigned char letter) { return std::isdigit(letter) != 0; });
  return digits;
}

// Conv3D is no misspelt Conv2D.
bool has_other_digits(std::string_view word, std::string_view name) {
  const std::string digits = digits_of(word), others = digits_of(name);
  return digits.size() == others.size() && digits != others;
}

bool is_name(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; });
}

}  // namespace

bool same_but_for_style(std::string_view a, std::string_view b) {
  return without_style(a) == without_style(b);
}

std::string suggestion(std::string_view word, std::span<const std::string_view> names) {
  const std::size_t tolerance = word.size() < 6 ? 1 : 2;
  std::string_view best;
  std::size_t best_distance = tolerance + 1;
  const std::string plain = without_style(word);
  for (const std::string_view name : names) {
    if (!plain.empty() && plain == without_style(name)) return fmt::format(" (did you mean '{}'?)", name);
    // The distance is at least the difference in length, and a word of any length is no reason to count it.
    if (std::max(word.size(), name.size()) - std::min(word.size(), name.size()) > tolerance) continue;
    if (has_other_digits(word, name)) continue;
    const std::size_t distance = edit_distance(word, name);
    // Every word is near to one of its own length that is as short as the tolerance.
    if (distance >= best_distance || distance >= std::max(word.size(), name.size())) continue;
    best = name;
    best_distance = distance;
  }
  return best.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", best);
}

std::string known_names(std::string_view word, std::span<const std::string_view> names, std::string_view also,
                        std::string_view place) {
  const std::optional<OtherName> other = place.empty() ? std::nullopt : find_other_name(place, word);
  // "eps" is epsilon, where there is an epsilon.
  const bool said = other && other->kind != OtherName::Kind::folder &&
                    (!is_name(other->text) || std::ranges::find(names, other->text) != names.end());
  if (said && other->kind == OtherName::Kind::here) return fmt::format("; here: {}", other->text);
  const std::string first = said ? fmt::format("; not in gpubench: {}", other->text) : suggestion(word, names);
  if (names.empty()) return fmt::format("{} (known: none{})", first, also);
  return fmt::format("{} (known: {}{})", first, fmt::join(names, ", "), also);
}

void throw_unknown_name(std::string_view unknown, std::string_view name, std::span<const std::string_view> known,
                        std::string_view also, std::string_view place) {
  throw Error(fmt::format("{} '{}'{}", unknown, shown_text(name), known_names(name, known, also, place)));
}

}  // namespace gpubench
