// Named options of a layer, loss or optimizer. One description of the fields serves Lua tables, JSON files and
// messages, so that a wrong option gives the same error everywhere.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/tensor/tensor_type.h"

namespace gpubench {

class LayerFunction;
using LayerFunctionPtr = std::shared_ptr<const LayerFunction>;

/// A list of numbers, such as thresholds.
using Numbers = std::vector<double>;
using ConfigValue = std::variant<bool, std::int64_t, double, std::string, Shape, LayerFunctionPtr, Numbers>;
/// The one number of a list that has no default: what it is follows from other options.
constexpr double not_given = std::numeric_limits<double>::quiet_NaN();
using ConfigEntries = std::vector<std::pair<std::string, ConfigValue>>;

struct ConfigField {
  std::string name;
  ConfigValue fallback;  ///< default value; its type is the field's type
  bool required = false;
  bool or_function = false;  ///< whether a string's place can be taken by a function
};

class Config {
 public:
  /// `owner` appears in messages: "Dense". Throws Error for an unknown, mistyped or missing option.
  Config(std::string owner, const std::vector<ConfigField>& fields, const ConfigEntries& given);

  const std::string& owner() const { return owner_; }
  bool flag(std::string_view name) const { return std::get<bool>(value(name)); }
  std::int64_t integer(std::string_view name) const { return std::get<std::int64_t>(value(name)); }
  double number(std::string_view name) const { return std::get<double>(value(name)); }
  const std::string& text(std::string_view name) const { return std::get<std::string>(value(name)); }
  const Shape& shape(std::string_view name) const { return std::get<Shape>(value(name)); }
  const Numbers& numbers(std::string_view name) const { return std::get<Numbers>(value(name)); }
  /// Null for a list that is not_given. Throws Error for an empty one.
  const Numbers* given_numbers(std::string_view name) const;
  /// Null if the option holds a string.
  LayerFunctionPtr function(std::string_view name) const;
  /// Of the same type as before.
  void set(std::string_view name, ConfigValue value);
  /// An integer that must be at least `least`.
  std::int64_t integer_from(std::string_view name, std::int64_t least) const;
  /// A number in [low, high).
  double number_within(std::string_view name, double low, double high) const;
  /// One positive number for both spatial dimensions, or one for each.
  std::array<std::int64_t, 2> pair(std::string_view name) const;
  /// All fields in their order.
  const ConfigEntries& entries() const { return entries_; }

 private:
  const ConfigValue& value(std::string_view name) const;

  std::string owner_;
  ConfigEntries entries_;
};

/// "true", "3", "0.5", "same", "[2, 2]", "lambda", "[0.5, 1]".
std::string to_string(const ConfigValue& value);

}  // namespace gpubench
