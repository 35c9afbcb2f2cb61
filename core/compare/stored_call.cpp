#include "core/compare/stored_call.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/tensor/device_id.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_shown = 200;

template <class T>
std::optional<T> whole_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool is_seconds(std::string_view text) {
  const std::optional<double> value = whole_number<double>(text);
  return value && std::isfinite(*value) && *value >= 0;
}

bool is_count(std::string_view text) {
  return whole_number<std::int64_t>(text).value_or(-1) >= 0;
}

bool is_device(std::string_view text) {
  try {
    parse_device_id(text);
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool has_control(std::string_view text) {
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    if (character.bytes == 0 || is_control(character.code)) return true;
    text.remove_prefix(character.bytes);
  }
  return false;
}

/// An axis' name as gb.axis has it, and values.
bool is_setting(std::string_view text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", digits = "0123456789";
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, equals), values = text.substr(equals);
  const auto is_in = [](std::string_view set, char c) { return set.find(c) != std::string_view::npos; };
  const auto fits = [&](char c) { return is_in(letters, c) || is_in(digits, c); };
  return !name.empty() && is_in(letters, name.front()) && std::ranges::all_of(name, fits) && values.size() > 1 &&
         !has_control(values);
}

using Fate = StoredOption::Fate;

constexpr StoredOption known_options[] = {
    {"--set", Fate::repeated, "AXIS=VALUE[,VALUE...]", &is_setting},
    {"--device", Fate::repeated, "a device", &is_device},
    {"--budget", Fate::repeated, "seconds", &is_seconds},
    {"--timeout", Fate::repeated, "seconds", &is_seconds},
    {"--wait-idle", Fate::repeated, "seconds", &is_seconds},
    {"--seed", Fate::repeated, "a whole number", &is_count},
    {"--threads", Fate::repeated, "a whole number", &is_count},
    {"--quick", Fate::repeated},
    {"--restart-from", Fate::refused, "a file"},
    {"--workers", Fate::refused, "a whole number"},
    {"--repeat", Fate::refused, "a whole number"},
    {"--dry-run", Fate::refused},
    {"--trusted", Fate::left_out},
    {"--out", Fate::left_out, "a folder"},
    {"--tag", Fate::left_out, "a word"},
    {"--chart-format", Fate::left_out, "formats"},
    {"--require", Fate::left_out, "requirements"},
    {"--strict", Fate::left_out},
    {"--peer-timeout", Fate::left_out, "seconds"},
    {"--quiet", Fate::left_out},
    {"-q", Fate::left_out},
    {"--json", Fate::left_out},
    {"--color", Fate::left_out, "when"},
    {"--wide", Fate::left_out},
    {"--traceback", Fate::left_out},
};

std::string shown(std::string_view text) {
  return shown_text(text, longest_shown);
}

/// The texts of a list of texts; empty for anything else.
std::vector<std::string> words_of(const Info& info) {
  std::vector<std::string> words;
  for (const Info& one : info.items("arguments")) {
    const auto* const text = one.cell() != nullptr ? std::get_if<std::string>(one.cell()) : nullptr;
    if (text == nullptr) return {};
    words.push_back(*text);
  }
  if (!words.empty() && words.front() == "run") words.erase(words.begin());
  return words;
}

/// Reads the arguments of one `gpubench run SCRIPT [OPTION...]`. Throws Error with a reason that has no subject.
class ArgumentReader {
 public:
  explicit ArgumentReader(const std::vector<std::string>& words) : words_(words) {}

  StoredCall read() {
    std::vector<std::string> scripts;
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (word.starts_with("-"))
        take_option(word);
      else
        scripts.push_back(word);
    }
    if (scripts.size() != 1) {
      throw Error(fmt::format("its run.json does not have the arguments of one 'gpubench run SCRIPT', but: {}",
                              words_.empty() ? "none" : shown(fmt::format("{}", fmt::join(words_, " ")))));
    }
    return std::move(call_);
  }

 private:
  void take_option(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto* const option = std::ranges::find(known_options, name, &StoredOption::name);
    if (option == std::end(known_options))
      throw Error(fmt::format("its run.json has the option {}, which gpubench run does not have", shown(name)));
    std::optional<std::string> value;
    if (equals != std::string::npos)
      value = word.substr(equals + 1);
    else if (!option->value.empty() && next_ < words_.size())
      value = words_[next_++];
    check(*option, value);
    if (option->fate == Fate::repeated)
      call_.options.push_back(value ? name + "=" + *value : name);
    else if (std::ranges::find(call_.left_out, name) == call_.left_out.end())
      call_.left_out.push_back(name);
  }

  static void check(const StoredOption& option, const std::optional<std::string>& value) {
    if (option.fate == Fate::refused)
      throw Error(fmt::format("it was measured with {}, which is not taken from a run.json", option.name));
    if (option.value.empty() && value)
      throw Error(fmt::format("its run.json has {}={}, an option without a value", option.name, shown(*value)));
    if (!option.value.empty() && !value)
      throw Error(fmt::format("its run.json has {} without a value ({})", option.name, option.value));
    if (option.fits != nullptr && !option.fits(*value))
      throw Error(
          fmt::format("its run.json has {} with '{}', which is not {}", option.name, shown(*value), option.value));
  }

  const std::vector<std::string>& words_;
  std::size_t next_ = 0;
  StoredCall call_;
};

/// Relative where it is below the working folder; never with '-' in front, as an option has it.
fs::path near_path(const fs::path& path) {
  std::error_code none;
  fs::path near = path.lexically_relative(fs::current_path(none));
  if (near.empty() || *near.begin() == "..") near = path;
  return near.string().starts_with('-') ? "." / near : near;
}

fs::path script_of(const fs::path& run) {
  std::error_code none;
  const fs::path script = run / "script.lua";
  const fs::file_type type = fs::symlink_status(script, none).type();
  if (type == fs::file_type::not_found) throw Error("script.lua, the copy of its script, is not beside it");
  if (type != fs::file_type::regular) throw Error("script.lua beside it is no file, as a copy of its script is");
  return near_path(script);
}

}  // namespace

std::span<const StoredOption> stored_options() {
  return known_options;
}

StoredCall stored_call(const fs::path& run, const Info& info) {
  try {
    const std::size_t processes = info.items("processes").size();
    if (processes > 1) throw Error(fmt::format("{} processes have measured it together", processes));
    StoredCall call = ArgumentReader(words_of(info)).read();
    call.script = script_of(run);
    return call;
  } catch (const Error& error) {
    throw Error(fmt::format("{} cannot be measured again: {}", shown(near_path(run).string()), error.what()));
  }
}

}  // namespace gpubench
