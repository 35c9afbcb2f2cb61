#include "core/train/files/filled_path.h"

#include <fmt/format.h>
#include <regex>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr const char* epoch_name = "epoch";

}  // namespace

FilledPath::FilledPath(std::string owner, const std::string& text) : owner_(std::move(owner)), text_(text) {
  Part literal;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c)
      ++at;  // one brace
    else if (c == '}')
      throw Error(fmt::format("{}: '{}': a '}}' without '{{'; '}}}}' is one brace", owner_, text_));
    else if (c == '{') {
      const std::size_t end = text.find('}', at);
      if (end == std::string::npos)
        throw Error(fmt::format("{}: '{}': a '{{' without '}}'; '{{{{' is one brace", owner_, text_));
      parts_.push_back(std::exchange(literal, Part{}));
      parts_.push_back(part_of(text.substr(at + 1, end - at - 1)));
      at = end;
      continue;
    }
    literal.text += c;
  }
  parts_.push_back(literal);
}

FilledPath::Part FilledPath::part_of(const std::string& field) const {
  static const std::regex format("0?[1-9]?[0-9]?(\\.[0-9]{1,2})?([defgEFG]?)");
  const std::size_t colon = field.find(':');
  Part part{.text = field.substr(0, colon), .is_name = true};
  if (part.text.empty()) throw Error(fmt::format("{}: '{}': '{{{}}}' names no figure", owner_, text_, field));
  if (colon == std::string::npos) {
    part.is_integer = part.text == epoch_name;
    part.format = part.is_integer ? "{:02}" : "{:.4f}";
    return part;
  }
  part.format = field.substr(colon + 1);
  std::smatch parts;
  if (!std::regex_match(part.format, parts, format))
    throw Error(
        fmt::format("{}: '{}': '{}' is no format of a number; '02d' and '.2f' are", owner_, text_, part.format));
  part.is_integer = parts[2] == "d";
  if (part.is_integer && (part.text != epoch_name || parts[1].length() > 0))
    throw Error(fmt::format("{}: '{}': '{}' formats whole numbers, of which '{}' is none; '.2f' is possible", owner_,
                            text_, part.format, part.text));
  part.format = "{:" + part.format + "}";
  return part;
}

std::string FilledPath::filled(std::int64_t epoch, const Logs& logs) const {
  std::string path;
  for (const Part& part : parts_) {
    if (!part.is_name) {
      path += part.text;
      continue;
    }
    if (part.is_integer) {
      path += fmt::format(fmt::runtime(part.format), epoch);
      continue;
    }
    const double epoch_number = static_cast<double>(epoch);
    const double* const figure = part.text == epoch_name ? &epoch_number : find_log(logs, part.text);
    if (figure == nullptr)
      throw Error(fmt::format("{}: '{}': there is no figure '{}' (there are: {}, {})", owner_, text_, part.text,
                              epoch_name, names_of_logs(logs)));
    path += fmt::format(fmt::runtime(part.format), *figure);
  }
  return path;
}

}  // namespace gpubench
