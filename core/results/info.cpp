#include "core/results/info.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/json_limits.h"
#include "core/base/shown_text.h"

namespace gpubench {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return nullptr;
        } else {
          return value;
        }
      },
      cell);
}

// A JSON object of the library looks for each key among all before it.
Json json_of(const Info& info) {
  if (const auto* list = info.list()) {
    Json json = Json::array();
    for (const Info& item : *list) json.push_back(json_of(item));
    return json;
  }
  if (const auto* fields = info.fields()) {
    Json::object_t object;
    object.reserve(fields->size());
    for (const auto& [name, value] : *fields) object.emplace_back(name, json_of(value));
    return object;
  }
  return json_of(*info.cell());
}

/// A number that strict JSON does not have.
struct LooseNumber {
  std::string_view token;
  double value;
};

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr std::array loose_numbers = {
    LooseNumber{"NaN", not_a_number},  LooseNumber{"nan", not_a_number}, LooseNumber{"-nan", not_a_number},
    LooseNumber{"Infinity", infinity}, LooseNumber{"inf", infinity},     LooseNumber{"-Infinity", -infinity},
    LooseNumber{"-inf", -infinity},
};

/// In strings that stand for such numbers.
constexpr char stand_in = '\x7F';

/// Puts strings of the same length in the place of such numbers, so that errors name the right byte. Returns the
/// numbers.
std::vector<double> replace_loose_numbers(std::string& text) {
  std::vector<double> numbers;
  if (text.find(stand_in) != std::string::npos) return numbers;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') {
      while (++at < text.size() && text[at] != '"')
        if (text[at] == '\\') ++at;
      continue;
    }
    for (const auto& [token, value] : loose_numbers) {
      if (text.compare(at, token.size(), token) != 0) continue;
      text.replace(at, token.size(), '"' + std::string(token.size() - 2, stand_in) + '"');
      numbers.push_back(value);
      at += token.size() - 1;
      break;
    }
  }
  return numbers;
}

/// Builds the tree as the text is read, for the same reason.
class InfoBuilder final : public nlohmann::json_sax<Json> {
 public:
  /// `loose_numbers`: the values of strings of stand-ins, in their order.
  InfoBuilder(std::string_view what, std::vector<double> loose_numbers)
      : what_(what), loose_numbers_(std::move(loose_numbers)) {}

  bool null() override { return add(Info()); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (std::in_range<std::int64_t>(value)) return add(static_cast<std::int64_t>(value));
    return add(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value); }
  bool string(string_t& value) override {
    if (next_loose_ < loose_numbers_.size() && value.starts_with(stand_in)) return add(loose_numbers_[next_loose_++]);
    return add(std::move(value));
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(Info::Fields()); }
  bool start_array(std::size_t /*size*/) override { return open(Info::List()); }
  bool key(string_t& name) override {
    open_.back().key = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string& /*token*/, const Json::exception& /*error*/) override {
    throw Error(fmt::format("{}: not valid JSON: it breaks off or is damaged at byte {}", what_, position));
  }

  Info take() { return std::move(whole_); }

 private:
  struct Open {
    std::variant<Info::List, Info::Fields> items;
    std::string key;  ///< of the next field
  };

  bool add(Info value) {
    if (open_.empty()) {
      whole_ = std::move(value);
    } else if (auto* list = std::get_if<Info::List>(&open_.back().items)) {
      list->push_back(std::move(value));
    } else {
      std::get<Info::Fields>(open_.back().items).emplace_back(std::move(open_.back().key), std::move(value));
    }
    return true;
  }
  bool open(std::variant<Info::List, Info::Fields> items) {
    open_.push_back({std::move(items), {}});
    return true;
  }
  bool close() {
    std::variant<Info::List, Info::Fields> items = std::move(open_.back().items);
    open_.pop_back();
    return std::visit([this](auto& all) { return add(Info(std::move(all))); }, items);
  }

  std::string_view what_;
  std::vector<double> loose_numbers_;
  std::size_t next_loose_ = 0;
  Info whole_;
  std::vector<Open> open_;
};

}  // namespace

void Info::set(std::string_view name, Info value) {
  if (!fields()) value_ = Fields{};
  auto& all = std::get<Fields>(value_);
  const auto found = std::ranges::find(all, name, &std::pair<std::string, Info>::first);
  if (found != all.end()) {
    found->second = std::move(value);
  } else {
    all.emplace_back(name, std::move(value));
  }
}

const Info* Info::find(std::string_view name) const {
  if (!fields()) return nullptr;
  const auto found = std::ranges::find(*fields(), name, &std::pair<std::string, Info>::first);
  return found == fields()->end() ? nullptr : &found->second;
}

std::string Info::text(std::string_view name) const {
  const Info* field = find(name);
  return field && field->cell() ? to_text(*field->cell()) : "";
}

std::vector<std::string> Info::texts(std::string_view name) const {
  std::vector<std::string> texts;
  const Info* field = find(name);
  if (!field || !field->list()) return texts;
  for (const Info& one : *field->list()) {
    if (one.cell()) texts.push_back(to_text(*one.cell()));
  }
  return texts;
}

std::optional<double> Info::number(std::string_view name) const {
  const Info* const field = find(name);
  return field != nullptr && field->cell() != nullptr ? number_in(*field->cell()) : std::nullopt;
}

const Info::List& Info::items(std::string_view name) const {
  static const List nothing;
  const Info* const field = find(name);
  return field != nullptr && field->list() != nullptr ? *field->list() : nothing;
}

// Text from elsewhere may be invalid UTF-8, which must not cost the run its facts.
std::string to_json(const Info& info) {
  return shown_json(json_of(info).dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string to_json_line(const Info& info) {
  return shown_json(json_of(info).dump(-1, ' ', false, Json::error_handler_t::replace));
}

namespace {

Info parsed(std::string_view text, std::string_view what, std::vector<double> loose_numbers) {
  check_json_limits(text, what);
  InfoBuilder builder(what, std::move(loose_numbers));
  Json::sax_parse(text, &builder);
  return builder.take();
}

}  // namespace

Info parse_json(std::string_view text, std::string_view what) {
  return parsed(text, what, {});
}

Info parse_json_with_nan(std::string text, std::string_view what) {
  std::vector<double> numbers = replace_loose_numbers(text);
  return parsed(text, what, std::move(numbers));
}

}  // namespace gpubench
