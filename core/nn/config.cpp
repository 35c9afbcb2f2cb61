#include "core/nn/config.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/nn/layer_function.h"

namespace gpubench {
namespace {

constexpr const char* type_names[] = {"a boolean",          "an integer", "a number",         "a string",
                                      "a list of integers", "a function", "a list of numbers"};

/// `given` as the field's type, where nothing is lost: an integer is also a number and a list of one.
ConfigValue convert(const std::string& owner, const ConfigField& field, ConfigValue given) {
  const ConfigValue& wanted = field.fallback;
  if (given.index() == wanted.index()) return given;
  if (field.or_function && std::holds_alternative<LayerFunctionPtr>(given)) return given;
  if (const auto* integer = std::get_if<std::int64_t>(&given)) {
    if (std::holds_alternative<double>(wanted)) return static_cast<double>(*integer);
    if (std::holds_alternative<Shape>(wanted)) return Shape{*integer};
    if (std::holds_alternative<Numbers>(wanted)) return Numbers{static_cast<double>(*integer)};
  }
  if (std::holds_alternative<Numbers>(wanted)) {
    if (const auto* number = std::get_if<double>(&given)) return Numbers{*number};
    if (const auto* list = std::get_if<Shape>(&given)) return Numbers(list->begin(), list->end());
  }
  if (const auto* number = std::get_if<double>(&given); number != nullptr && std::rint(*number) == *number) {
    if (std::holds_alternative<std::int64_t>(wanted)) return static_cast<std::int64_t>(*number);
  }
  throw Error(fmt::format("{}: option '{}' must be {}{}, got {} ({})", owner, field.name, type_names[wanted.index()],
                          field.or_function ? " or a function" : "", type_names[given.index()], to_string(given)));
}

}  // namespace

Config::Config(std::string owner, const std::vector<ConfigField>& fields, const ConfigEntries& given)
    : owner_(std::move(owner)) {
  for (const auto& entry : given) {
    const std::string& name = entry.first;
    const bool known =
        std::any_of(fields.begin(), fields.end(), [&](const ConfigField& field) { return field.name == name; });
    if (!known) {
      throw_unknown_name(fmt::format("{}: unknown option", owner_), name, names_of(fields, &ConfigField::name), "",
                         "option " + owner_);
    }
  }
  for (const ConfigField& field : fields) {
    const auto found =
        std::find_if(given.begin(), given.end(), [&](const auto& entry) { return entry.first == field.name; });
    if (found == given.end() && field.required) {
      throw Error(
          fmt::format("{}: option '{}' is required; it is {}", owner_, field.name, type_names[field.fallback.index()]));
    }
    entries_.emplace_back(field.name, found == given.end() ? field.fallback : convert(owner_, field, found->second));
  }
}

const Numbers* Config::given_numbers(std::string_view name) const {
  const Numbers& all = numbers(name);
  if (all.empty()) throw Error(fmt::format("{}: {} must have at least one number", owner_, name));
  return std::isnan(all[0]) ? nullptr : &all;
}

void Config::set(std::string_view name, ConfigValue value) {
  ConfigValue& entry = std::ranges::find(entries_, name, &ConfigEntries::value_type::first)->second;
  assert(entry.index() == value.index());
  entry = std::move(value);
}

const ConfigValue& Config::value(std::string_view name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.first == name; });
  assert(found != entries_.end());
  return found->second;
}

LayerFunctionPtr Config::function(std::string_view name) const {
  const auto* const function = std::get_if<LayerFunctionPtr>(&value(name));
  return function == nullptr ? nullptr : *function;
}

std::int64_t Config::integer_from(std::string_view name, std::int64_t least) const {
  const std::int64_t given = integer(name);
  if (given < least) throw Error(fmt::format("{}: {} must be at least {}, got {}", owner_, name, least, given));
  return given;
}

double Config::number_within(std::string_view name, double low, double high) const {
  const double given = number(name);
  if (!(given >= low && given < high)) {
    throw Error(fmt::format("{}: {} must be at least {} and below {}, got {}", owner_, name, low, high, given));
  }
  return given;
}

std::array<std::int64_t, 2> Config::pair(std::string_view name) const {
  const Shape& given = shape(name);
  const bool positive = std::all_of(given.begin(), given.end(), [](std::int64_t size) { return size > 0; });
  if (given.empty() || given.size() > 2 || !positive) {
    throw Error(fmt::format("{}: {} must be one or two positive integers, got {}", owner_, name, to_string(given)));
  }
  return {given.front(), given.back()};
}

std::string to_string(const ConfigValue& value) {
  struct Text {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t integer) const { return std::to_string(integer); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const Shape& shape) const { return to_string(shape); }
    std::string operator()(const LayerFunctionPtr& function) const { return function ? function->name() : "none"; }
    std::string operator()(const Numbers& numbers) const { return fmt::format("[{}]", fmt::join(numbers, ", ")); }
  };
  return std::visit(Text{}, value);
}

}  // namespace gpubench
