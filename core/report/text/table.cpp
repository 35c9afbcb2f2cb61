#include "core/report/text/table.h"

#include <algorithm>

#include "core/report/text/text.h"

namespace gpubench {
namespace {

void append_padded(std::string& line, const std::string& cell, std::size_t width, Align align) {
  const std::string padding(width - display_width(cell), ' ');
  line += align == Align::right ? padding + cell : cell + padding;
}

std::string text_line(const Table& table, const std::vector<std::string>& cells,
                      const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line.append(column_gap, ' ');
    append_padded(line, cells[i], widths[i], table.headings[i].align);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::vector<std::string> heading_cells(const Table& table) {
  std::vector<std::string> cells;
  for (const auto& heading : table.headings) cells.push_back(one_line(heading.text));
  return cells;
}

}  // namespace

std::string render_text(const Table& table) {
  std::vector<std::vector<std::string>> lines{heading_cells(table)};
  for (const auto& row : table.rows) {
    auto& line = lines.emplace_back();
    for (const std::string& cell : row) line.push_back(one_line(cell));
  }
  std::vector<std::size_t> widths(table.headings.size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], display_width(line[i]));
  }
  std::string text = text_line(table, lines.front(), widths);
  std::vector<std::string> rules;
  for (const std::size_t width : widths) rules.emplace_back(width, '-');
  text += text_line(table, rules, widths);
  for (std::size_t i = 1; i < lines.size(); ++i) text += text_line(table, lines[i], widths);
  return text;
}

std::string render_markdown(const Table& table) {
  std::string text = "|";
  for (const auto& heading : table.headings) text += " " + escape_markdown(heading.text) + " |";
  text += "\n|";
  for (const auto& heading : table.headings) text += heading.align == Align::right ? " ---: |" : " --- |";
  text += "\n";
  for (const auto& row : table.rows) {
    text += "|";
    for (const std::string& cell : row) text += " " + escape_markdown(cell) + " |";
    text += "\n";
  }
  return text;
}

}  // namespace gpubench
