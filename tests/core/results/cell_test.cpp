#include "core/results/cell.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "core/results/record.h"

namespace gpubench {
namespace {

TEST(Cell, TextReadsBackAsTheSameValue) {
  const Cell cells[] = {std::monostate{},
                        true,
                        false,
                        std::int64_t{-7},
                        3.0,
                        0.1,
                        4.2e-05,
                        1e300,
                        std::numeric_limits<double>::infinity(),
                        std::string("gpu:0"),
                        std::string("a, \"b\"")};
  for (const Cell& cell : cells) EXPECT_EQ(parse_cell(to_text(cell), false), cell) << to_text(cell);
  EXPECT_TRUE(std::isnan(std::get<double>(parse_cell(to_text(Cell(std::nan(""))), false))));
}

TEST(Cell, TextColumnsKeepNumbersAsText) {
  EXPECT_EQ(parse_cell("12", true), Cell(std::string("12")));
  EXPECT_EQ(parse_cell("", true), Cell());
}

TEST(Cell, OnlyNumbersAreNumbers) {
  EXPECT_EQ(number_in(std::int64_t{3}), 3.0);
  EXPECT_EQ(number_in(2.5), 2.5);
  EXPECT_FALSE(number_in(std::string("3")));
  EXPECT_FALSE(number_in(true));
  EXPECT_FALSE(number_in(Cell()));
}

TEST(Record, KeepsTheOrderAndReplacesCells) {
  Record record{{"b", 1.0}, {"a", true}};
  record.set("b", 2.0);
  record.set("c", std::string("x"));
  EXPECT_EQ(record, (Record{{"b", 2.0}, {"a", true}, {"c", std::string("x")}}));
  EXPECT_FALSE(record.has("d"));
  EXPECT_EQ(record.get("d"), Cell());
}

TEST(Record, FindsEachOfManyCells) {
  std::vector<std::pair<std::string, Cell>> cells;
  Record one_by_one;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const std::string name = "c" + std::to_string(i * 7919 % 1000);
    cells.emplace_back(name, i);
    one_by_one.set(name, i);
  }
  const Record at_once(cells);
  EXPECT_EQ(at_once, one_by_one);
  EXPECT_EQ(at_once.cells(), cells);
  for (const auto& [name, cell] : cells) EXPECT_EQ(at_once.get(name), cell) << name;
  EXPECT_FALSE(at_once.has("c")) << "a name that another begins with";
}

}  // namespace
}  // namespace gpubench
