// Names that are looked up: what is said of one that does not exist.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpubench {

/// " (did you mean 'fit'?)" if a name is similar to the word, else "".
std::string suggestion(std::string_view word, std::span<const std::string_view> names);

/// suggestion(), then " (known: <names, or none><also>)". `also`: what else is possible, as in "; or a function".
std::string known_names(std::string_view word, std::span<const std::string_view> names, std::string_view also = "");

/// Throws Error("<unknown> '<name>'<known_names>").
[[noreturn]] void throw_unknown_name(std::string_view unknown, std::string_view name,
                                     std::span<const std::string_view> known, std::string_view also = "");

/// The names of strings, or of rows by a member: names_of(kinds, &Kind::name).
template <class Rows, class Member = std::string_view (*)(std::string_view)>
std::vector<std::string_view> names_of(
    const Rows& rows, Member member = [](std::string_view name) { return name; }) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(std::invoke(member, row));
  return names;
}

}  // namespace gpubench
