#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <system_error>
#include <utility>

#include "lua/host/library_commands.h"

namespace gpubench {
namespace {

/// "--keep-tags" to "keep_tags"; of "-k,--keep-tags" too.
std::string key_of(const std::string& option) {
  const std::size_t begin = option.rfind("--");
  std::string key = begin == std::string::npos ? option : option.substr(begin + 2);
  std::ranges::replace(key, '-', '_');
  return key;
}

template <class T>
CLI::Option& add_argument(CLI::App& command, CommandLine& values, const std::string& option, const std::string& type,
                          const std::string& description) {
  CLI::Option* const added = command.add_option_function<T>(
      option, [&values, key = key_of(option)](const T& value) { values.arguments[key] = value; }, description);
  return *added->type_name(type);
}

}  // namespace

std::string check_positive(const std::string& text) {
  try {
    std::size_t end = 0;
    const double value = std::stod(text, &end);
    if (end == text.size() && value > 0 && std::isfinite(value)) return {};
  } catch (const std::exception&) {  // no number, or one that no double holds
  }
  return "'" + text + "' is not a positive number";
}

std::function<std::string(const std::string&)> whole_number(std::int64_t least, std::int64_t most) {
  return [=](const std::string& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most)
      return std::string();
    return fmt::format("'{}' is no whole number from {} to {}", text, least, most);
  };
}

std::string check_named(const std::string& text) {
  return text.empty() ? "the name is empty" : std::string();
}

CLI::Option& CommandOptions::argument(const std::string& name, const std::string& type,
                                      const std::string& description) {
  return add_argument<std::string>(command_, values_, name, type, description);
}

CLI::Option& CommandOptions::arguments(const std::string& name, const std::string& type,
                                       const std::string& description) {
  return add_argument<std::vector<std::string>>(command_, values_, name, type, description);
}

CLI::Option& CommandOptions::text(const std::string& option, const std::string& type, const std::string& description) {
  return *add_argument<std::string>(command_, values_, option, type, description).check(check_named);
}

CLI::Option& CommandOptions::texts(const std::string& option, const std::string& type, const std::string& description) {
  return *add_argument<std::vector<std::string>>(command_, values_, option, type, description)
              .allow_extra_args(false)
              ->check(check_named);
}

CLI::Option& CommandOptions::choice(const std::string& option, const std::string& type,
                                    std::vector<std::string> possible, const std::string& description) {
  return *add_argument<std::string>(command_, values_, option, type, description)
              .check(CLI::IsMember(std::move(possible)));
}

CLI::Option& CommandOptions::integer(const std::string& option, const std::string& type, std::int64_t least,
                                     std::int64_t most, const std::string& description) {
  return *add_argument<std::int64_t>(command_, values_, option, type, description).check(whole_number(least, most));
}

CLI::Option& CommandOptions::positive(const std::string& option, const std::string& type,
                                      const std::string& description) {
  return *add_argument<double>(command_, values_, option, type, description).check(check_positive);
}

void CommandOptions::flag(const std::string& option, const std::string& description) {
  command_.add_flag_function(
      option, [&values = values_, key = key_of(option)](std::int64_t) { values.arguments[key] = true; }, description);
}

void CommandOptions::out_folder(const std::string& description) {
  command_.add_option("--out", values_.out, description)->type_name("DIR")->check(check_named);
}

void CommandOptions::text_style() {
  command_.add_flag("--wide", values_.wide, "Print all columns of the table, not only those of claims and charts");
  command_.add_option("--color", values_.color, "auto (on a terminal, unless NO_COLOR is set), always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

void CommandOptions::chart_format() {
  command_
      .add_option(
          "--chart-format", values_.chart_formats,
          "Draw the charts as svg, png or pdf, or several of them; the report embeds svg, which is always drawn")
      ->type_name("FORMAT[,FORMAT...]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"svg", "png", "pdf"}));
}

void CommandOptions::traceback() {
  command_.add_flag("--traceback", values_.traceback, "Show Lua's traceback with an error");
}

}  // namespace gpubench
