// Sizes that stand first or by name: shuffle(100, { seed = 1 }) is shuffle { buffer_size = 100, seed = 1 }, as Keras
// takes its arguments.
#pragma once
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <variant>

#include "lua/bind/bind.h"

namespace gpubench::lua {

/// The first argument of a function whose options `T` name the size, too.
template <class T>
using SizeOrOptions = std::variant<std::int64_t, T>;

/// The options with their size, which is `name` in scripts. Throws ArgumentError if it is given twice, and if it is
/// missing.
template <class T>
T with_size(const SizeOrOptions<T>& first, const std::optional<T>& second, std::optional<std::int64_t> T::*size,
            const char* name) {
  const auto* const named = std::get_if<T>(&first);
  if (named != nullptr && second) throw ArgumentError("argument #2: the options are given twice");
  T options = named != nullptr ? *named : second.value_or(T{});
  if (const auto* const number = std::get_if<std::int64_t>(&first)) {
    if (options.*size) {
      throw ArgumentError(fmt::format("{} is given twice: {} and {}", name, *number, *(options.*size)));
    }
    options.*size = *number;
  }
  if (!(options.*size)) throw ArgumentError(fmt::format("{} is missing: a number first, or by name", name));
  return options;
}

/// A size that may be left out.
template <class T>
std::optional<std::int64_t> size_in(const std::optional<SizeOrOptions<T>>& first,
                                    std::optional<std::int64_t> T::*size) {
  if (!first) return std::nullopt;
  if (const auto* const number = std::get_if<std::int64_t>(&*first)) return *number;
  return std::get<T>(*first).*size;
}

}  // namespace gpubench::lua
