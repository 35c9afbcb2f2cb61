// Names that are looked up: what is said of one that does not exist.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpubench {

/// " (did you mean 'fit'?)" if a name is similar to the word, else "". Names that differ in a digit alone are not.
std::string suggestion(std::string_view word, std::span<const std::string_view> names);

/// Whether two names differ in capitals and underscores alone: "MeanSquaredError" and "mean_squared_error".
bool same_but_for_style(std::string_view a, std::string_view b);

/// suggestion(), then " (known: <names, or none><also>)". `also`: what else is possible, as in "; or a function".
/// `place`: where the name was looked up, as other_names.h has them ("loss"); what that says of a name of other
/// libraries comes in place of a suggestion.
std::string known_names(std::string_view word, std::span<const std::string_view> names, std::string_view also = "",
                        std::string_view place = "");

/// Throws Error("<unknown> '<name>'<known_names>").
[[noreturn]] void throw_unknown_name(std::string_view unknown, std::string_view name,
                                     std::span<const std::string_view> known, std::string_view also = "",
                                     std::string_view place = "");

/// The names of strings, or of rows by a member: names_of(kinds, &Kind::name).
template <class Rows, class Member = std::string_view (*)(std::string_view)>
std::vector<std::string_view> names_of(
    const Rows& rows, Member member = [](std::string_view name) { return name; }) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(std::invoke(member, row));
  return names;
}

}  // namespace gpubench
