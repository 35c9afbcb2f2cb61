#include "core/backend/emulated/profile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "core/backend/emulated/embedded_profiles.h"
#include "core/base/error.h"
#include "core/base/known_names.h"

namespace gpubench {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

const ProfileNumber& number_of(std::string_view name) {
  const auto found = std::ranges::find(profile_numbers, name, &ProfileNumber::name);
  if (found == profile_numbers.end()) {
    throw_unknown_name("unknown number of a profile", name, names_of(profile_numbers, &ProfileNumber::name));
  }
  return *found;
}

/// Reads a profile's text line by line.
class ProfileText {
 public:
  explicit ProfileText(std::string_view name) : name_(name) { read_.profile.name = name; }

  void read(std::string_view line) {
    ++line_;
    line = trimmed(line);
    if (line.empty()) return;
    if (take(line, "product:")) {
      read_.profile.product = trimmed(line);
    } else if (take(line, "checked:")) {
      read_.profile.checked = trimmed(line);
    } else {
      read_number(line);
    }
  }

  SourcedProfile finish() {
    if (read_.profile.product.empty()) throw Error(fmt::format("profile {}: it has no 'product:'", name_));
    for (std::size_t i = 0; i < profile_numbers.size(); ++i) {
      if (!seen_[i]) throw Error(fmt::format("profile {}: the number {} is missing", name_, profile_numbers[i].name));
    }
    return std::move(read_);
  }

 private:
  static bool take(std::string_view& line, std::string_view prefix) {
    if (!line.starts_with(prefix)) return false;
    line.remove_prefix(prefix.size());
    return true;
  }

  [[noreturn]] void refuse(std::string_view why) const {
    throw Error(fmt::format("profile {}, line {}: {}", name_, line_, why));
  }

  void read_number(std::string_view line) {
    const std::size_t equals = line.find('='), hash = line.find('#');
    if (equals == std::string_view::npos || hash == std::string_view::npos || hash < equals)
      refuse(fmt::format("'NUMBER = VALUE  # SOURCE' is expected, got '{}'", line));
    const std::string_view number = trimmed(line.substr(0, equals)), source = trimmed(line.substr(hash + 1));
    const std::string_view digits = trimmed(line.substr(equals + 1, hash - equals - 1));
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) refuse(fmt::format("'{}' is no number", digits));
    if (source.empty()) refuse(fmt::format("{} has no source", number));
    try {
      const auto index = static_cast<std::size_t>(&number_of(number) - profile_numbers.data());
      if (seen_[index]) refuse(fmt::format("{} is there twice", number));
      set_number(read_.profile, number, value);
      seen_[index] = true;
      read_.sources[index] = source;
    } catch (const Error& error_of_number) {
      const std::string text = error_of_number.what();
      if (text.starts_with("profile ")) throw;
      refuse(text);
    }
  }

  std::string name_;
  int line_ = 0;
  SourcedProfile read_;
  std::array<bool, profile_numbers.size()> seen_{};
};

}  // namespace

void set_number(Profile& profile, std::string_view number, double value) {
  const ProfileNumber& known = number_of(number);
  if (!std::isfinite(value) || value < known.least || value > known.most)
    throw Error(fmt::format("{} is {}; {} to {} is possible", number, value, known.least, known.most));
  profile.*known.member = value;
}

SourcedProfile parse_profile(std::string_view name, std::string_view text) {
  ProfileText reader(name);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.read(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

std::string to_text(const SourcedProfile& profile) {
  std::string text = fmt::format("product: {}\n", profile.profile.product);
  if (!profile.profile.checked.empty()) text += fmt::format("checked: {}\n", profile.profile.checked);
  for (std::size_t i = 0; i < profile_numbers.size(); ++i) {
    text += fmt::format("{} = {:.4g}  # {}\n", profile_numbers[i].name, profile.profile.*profile_numbers[i].member,
                        profile.sources[i]);
  }
  return text;
}

std::span<const SourcedProfile> known_profiles() {
  static const std::vector<SourcedProfile> profiles = [] {
    std::vector<SourcedProfile> list;
    for (const auto& [name, text] : embedded::profiles) list.push_back(parse_profile(name, text));
    return list;
  }();
  return profiles;
}

const SourcedProfile& known_profile(std::string_view name) {
  const std::span<const SourcedProfile> all = known_profiles();
  const auto found = std::ranges::find(all, name, [](const SourcedProfile& one) { return one.profile.name; });
  if (found != all.end()) return *found;
  throw_unknown_name("unknown emulated accelerator", name,
                     names_of(all, [](const SourcedProfile& one) { return std::string_view(one.profile.name); }),
                     "; custom is what gb.config.set_custom_profile describes");
}

}  // namespace gpubench
