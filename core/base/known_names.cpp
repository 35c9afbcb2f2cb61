#include "core/base/known_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/base/shown_text.h"

namespace gpubench {
namespace {

// Letters to insert, delete, replace or swap with their neighbour to make one word the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> next(b.size() + 1);
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      next[j] = std::min({replaced, row[j] + 1, next[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before = std::exchange(row, std::move(next));
  }
  return row.back();
}

}  // namespace

std::string suggestion(std::string_view word, std::span<const std::string_view> names) {
  const std::size_t tolerance = word.size() < 4 ? 1 : 2;
  std::string_view best;
  std::size_t best_distance = tolerance + 1;
  for (const std::string_view name : names) {
    // The distance is at least the difference in length, and a word of any length is no reason to count it.
    if (std::max(word.size(), name.size()) - std::min(word.size(), name.size()) > tolerance) continue;
    const std::size_t distance = edit_distance(word, name);
    // Every word is near to one of its own length that is as short as the tolerance.
    if (distance >= best_distance || distance >= std::max(word.size(), name.size())) continue;
    best = name;
    best_distance = distance;
  }
  return best.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", best);
}

std::string known_names(std::string_view word, std::span<const std::string_view> names, std::string_view also) {
  if (names.empty()) return fmt::format(" (known: none{})", also);
  return fmt::format("{} (known: {}{})", suggestion(word, names), fmt::join(names, ", "), also);
}

void throw_unknown_name(std::string_view unknown, std::string_view name, std::span<const std::string_view> known,
                        std::string_view also) {
  throw Error(fmt::format("{} '{}'{}", unknown, shown_text(name), known_names(name, known, also)));
}

}  // namespace gpubench
