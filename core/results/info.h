// The tree of facts in run.json: what ran where. Keeps its order, so that people can read the file from top to bottom.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/results/cell.h"

namespace gpubench {

class Info {
 public:
  using List = std::vector<Info>;
  using Fields = std::vector<std::pair<std::string, Info>>;

  Info() = default;
  Info(Cell cell) : value_(std::move(cell)) {}
  Info(std::string text) : value_(Cell(std::move(text))) {}
  Info(const char* text) : value_(Cell(std::string(text))) {}
  Info(bool value) : value_(Cell(value)) {}
  Info(int value) : value_(Cell(std::int64_t{value})) {}
  Info(std::int64_t value) : value_(Cell(value)) {}
  Info(double value) : value_(Cell(value)) {}
  Info(List list) : value_(std::move(list)) {}
  Info(Fields fields) : value_(std::move(fields)) {}

  bool operator==(const Info&) const = default;
  /// Null if this is another kind of node.
  const Cell* cell() const { return std::get_if<Cell>(&value_); }
  const List* list() const { return std::get_if<List>(&value_); }
  const Fields* fields() const { return std::get_if<Fields>(&value_); }

  /// Replaces or adds a field; an empty node becomes a table of fields.
  void set(std::string_view name, Info value);
  /// Null if there is no such field.
  const Info* find(std::string_view name) const;
  /// Text of a field that holds a cell; empty if there is none.
  std::string text(std::string_view name) const;
  /// Texts of a field that holds a list of cells; empty if there is none.
  std::vector<std::string> texts(std::string_view name) const;
  /// Value of a field that holds a number; nothing if there is none.
  std::optional<double> number(std::string_view name) const;
  /// Items of a field that holds a list; empty if there is none. An empty table of Lua is no list.
  const List& items(std::string_view name) const;

 private:
  std::variant<Cell, List, Fields> value_;
};

/// NaN and infinities become null, because JSON cannot represent them. Safe for terminals (core/base/shown_text.h).
std::string to_json(const Info& info);
/// The same without a line break.
std::string to_json_line(const Info& info);
/// Throws Error that starts with `what` and names the position of the mistake; also beyond the limits of JSON
/// (core/base/json_limits.h).
Info parse_json(std::string_view text, std::string_view what);
/// The same for writers that are not strict: NaN, Infinity, nan and inf are numbers.
Info parse_json_with_nan(std::string text, std::string_view what);

}  // namespace gpubench
