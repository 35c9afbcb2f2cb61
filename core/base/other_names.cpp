#include "core/base/other_names.h"

#include <algorithm>
#include <functional>

#include "core/base/embedded_names.h"

namespace gpubench {
namespace {

// The part before the separator, which is taken away with it.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

// A line with those behind it that are indented.
std::string take_entry(std::string_view& text) {
  std::string entry(take_until(text, '\n'));
  while (text.starts_with("  ")) entry += take_until(text, '\n').substr(1);
  return entry;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    if (const std::string_view word = take_until(text, ' '); !word.empty()) words.emplace_back(word);
  }
  return words;
}

// Whether `place` is `outer` or lies in it.
bool is_within(std::string_view place, std::string_view outer) {
  if (!place.starts_with(outer)) return false;
  return place.size() == outer.size() || place[outer.size()] == '.' || place[outer.size()] == ' ';
}

OtherName answer_of(std::string_view line, std::string_view name, std::string_view section) {
  using enum OtherName::Kind;
  const bool marked = line.starts_with("- ") || line.starts_with("> ");
  std::string text(marked ? line.substr(2) : line);
  constexpr std::string_view place_of_name = "{name}";
  for (std::size_t at = 0; (at = text.find(place_of_name, at)) != std::string::npos; at += name.size())
    text.replace(at, place_of_name.size(), name);
  return {!marked ? here : line.starts_with('-') ? absent : folder, std::move(text), std::string(section)};
}

// "gb, Tensor": those of these places that suit.
std::vector<std::string> sections_in(std::string_view places, const std::function<bool(std::string_view)>& suits) {
  std::vector<std::string> sections;
  while (!places.empty()) {
    std::string_view place = take_until(places, ',');
    place.remove_prefix(std::min(place.find_first_not_of(' '), place.size()));
    if (suits(place)) sections.emplace_back(place);
  }
  return sections;
}

struct Entry {
  std::vector<std::string> sections;  // those that suit
  std::vector<std::string> names;
  std::string text;
};

void each_entry(const std::function<bool(std::string_view)>& suits, const std::function<void(const Entry&)>& take) {
  for (std::string_view text : embedded::other_names) {
    Entry one;
    while (!text.empty()) {
      const std::string entry = take_entry(text);
      if (entry.starts_with('[')) {
        one.sections = sections_in(std::string_view(entry).substr(1, entry.size() - 2), suits);
      } else if (!one.sections.empty() && !entry.starts_with('#')) {
        std::string_view rest = entry;
        one.names = words_of(take_until(rest, ':'));
        if (rest.empty()) continue;
        one.text = rest.substr(1);
        take(one);
      }
    }
  }
}

// What is said of the name in each section that suits.
std::vector<OtherName> find_all(std::string_view name, const std::function<bool(std::string_view)>& suits) {
  std::vector<OtherName> found;
  each_entry(suits, [&](const Entry& one) {
    if (std::ranges::find(one.names, name) == one.names.end()) return;
    for (const std::string& section : one.sections) found.push_back(answer_of(one.text, name, section));
  });
  return found;
}

std::set<std::string, std::less<>> names_in_sections(const std::function<bool(std::string_view)>& suits) {
  std::set<std::string, std::less<>> all;
  each_entry(suits, [&](const Entry& one) { all.insert(one.names.begin(), one.names.end()); });
  return all;
}

bool any_section(std::string_view) {
  return true;
}

}  // namespace

bool is_section_alone(std::string_view place) {
  return place != "Tensor" && place != "gb" && !place.starts_with("gb.");
}

std::vector<std::string> OtherName::places() const {
  return words_of(text);
}

std::string OtherName::members() const {
  std::string list;
  for (const std::string& place : places()) {
    if (is_section_alone(place)) continue;
    list += (list.empty() ? "" : ", ") + (place == "Tensor" ? "methods of tensors" : place);
  }
  return list;
}

std::optional<OtherName> find_other_name(std::string_view place, std::string_view name) {
  const std::vector<OtherName> found =
      find_all(name, [&](std::string_view section) { return is_within(place, section); });
  const auto nearest = std::ranges::max_element(found, {}, [](const OtherName& one) { return one.section.size(); });
  if (nearest == found.end()) return std::nullopt;
  return *nearest;
}

std::optional<OtherName> find_other_name_within(std::string_view place, std::string_view name) {
  const std::vector<OtherName> found =
      find_all(name, [&](std::string_view section) { return section != place && is_within(section, place); });
  if (found.empty()) return std::nullopt;
  return found.front();
}

std::vector<OtherName> find_other_names(std::string_view name) {
  return find_all(name, any_section);
}

std::set<std::string, std::less<>> other_names_at(std::string_view place) {
  return names_in_sections([&](std::string_view section) { return section == place; });
}

std::set<std::string, std::less<>> all_other_names() {
  return names_in_sections(any_section);
}

}  // namespace gpubench
