#include "core/results/info.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/json_nesting.h"

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

Json json_of(const Info& info) {
  if (const auto* list = info.list()) {
    Json json = Json::array();
    for (const Info& item : *list) json.push_back(json_of(item));
    return json;
  }
  if (const auto* fields = info.fields()) {
    Json json = Json::object();
    for (const auto& [name, value] : *fields) json[name] = json_of(value);
    return json;
  }
  return json_of(*info.cell());
}

Info info_of(const Json& json) {
  if (json.is_object()) {
    Info::Fields fields;
    for (const auto& [name, value] : json.items()) fields.emplace_back(name, info_of(value));
    return fields;
  }
  if (json.is_array()) {
    Info::List list;
    for (const Json& item : json) list.push_back(info_of(item));
    return list;
  }
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return {};
}

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

// Text from elsewhere may be invalid UTF-8, which must not cost the run its facts.
std::string to_json(const Info& info) {
  return json_of(info).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_json_line(const Info& info) {
  return json_of(info).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Info parse_json(std::string_view text, std::string_view what) {
  check_json_nesting(text, what);
  try {
    return info_of(Json::parse(text));
  } catch (const Json::exception& error) {
    throw Error(fmt::format("{}: not valid JSON: {}", what, error.what()));
  }
}

}  // namespace gpubench
