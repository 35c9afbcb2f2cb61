#include "core/results/info.h"

#include <algorithm>
#include <fmt/format.h>
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

/// Builds the tree as the text is read, for the same reason.
class InfoBuilder final : public nlohmann::json_sax<Json> {
 public:
  explicit InfoBuilder(std::string_view what) : what_(what) {}

  bool null() override { return add(Info()); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (std::in_range<std::int64_t>(value)) return add(static_cast<std::int64_t>(value));
    return add(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
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

Info parse_json(std::string_view text, std::string_view what) {
  check_json_limits(text, what);
  InfoBuilder builder(what);
  Json::sax_parse(text, &builder);
  return builder.take();
}

}  // namespace gpubench
