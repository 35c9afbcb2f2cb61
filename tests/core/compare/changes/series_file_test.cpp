#include "core/compare/changes/series_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "core/base/input_limits.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Series> read(const std::string& text) {
  std::istringstream in(text);
  return read_series(in, "f");
}

std::string refusal(const std::string& text) {
  return support::error_of([&] { read(text); });
}

TEST(SeriesFile, JsonLinesHaveOneSeriesEach) {
  const auto all = read(
      "\xEF\xBB\xBF{\"id\": \"a \\\"b\\\"\", \"values\": [1, 2.5, -3e2], \"unit\": null}\r\n\n"
      "{\"values\": [0], \"id\": 17}");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].id, "\"a \\\"b\\\"\"");
  EXPECT_THAT(all[0].values, ElementsAre(1, 2.5, -300));
  EXPECT_EQ(all[1].id, "17");
  EXPECT_THAT(all[1].values, ElementsAre(0));
}

TEST(SeriesFile, CsvHasASeriesPerRowOrAValuePerRow) {
  const auto all = read("unit,id,values\r\ns,a,1 2;3\r\ns,b,4\r\ns,c,5\r\ns,b,-6e1\r\n\r\ns,\"d,d\",\"[7, 8]\"\r\n");
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].id, "\"a\"");
  EXPECT_THAT(all[0].values, ElementsAre(1, 2, 3));
  EXPECT_THAT(all[1].values, ElementsAre(4, -60));
  EXPECT_THAT(all[2].values, ElementsAre(5));
  EXPECT_EQ(all[3].id, "\"d,d\"");
  EXPECT_THAT(all[3].values, ElementsAre(7, 8));
}

TEST(SeriesFile, BadJsonIsNamedWithItsLine) {
  const std::string good = "{\"id\": \"a\", \"values\": [1]}\n";
  const auto second = [&](const std::string& line) { return refusal(good + line + "\n" + good); };
  EXPECT_EQ(second("{\"values\": [1]}"), "f: line 2: no 'id'");
  EXPECT_EQ(second("{\"id\": \"\", \"values\": [1]}"), "f: line 2: 'id' is \"\"; possible: a text or a whole number");
  EXPECT_EQ(second("{\"id\": [1], \"values\": [1]}"), "f: line 2: 'id' is [1]; possible: a text or a whole number");
  EXPECT_EQ(second("{\"id\": \"b\"}"), "f: line 2: no 'values'");
  EXPECT_EQ(second("{\"id\": \"b\", \"values\": []}"), "f: line 2: 'values' is empty");
  EXPECT_EQ(second("{\"id\": \"b\", \"values\": 1}"), "f: line 2: 'values' is no array of numbers");
  EXPECT_EQ(second("{\"id\": \"b\", \"values\": [1, null]}"), "f: line 2: value 1 is no number: null");
  EXPECT_EQ(second("{\"id\": \"b\", \"values\": [1, \"2\"]}"), "f: line 2: value 1 is no number: \"2\"");
  EXPECT_EQ(second("{\"id\": \"b\", \"values\": [[1]]}"), "f: line 2: value 0 is no number: [1]");
  EXPECT_EQ(second("{\"id\": \"b\", \"values\": [NaN]}"), "f: line 2: not valid JSON at byte 24: NaN]}");
  EXPECT_EQ(second("{\"id\": \"b\", \"values\": [1e999]}"),
            "f: line 2: a number is too large for 64-bit floating point");
  EXPECT_EQ(second("{\"id\": \"b\", \"values\": [1, 2"), "f: line 2: the JSON object is cut off");
  EXPECT_EQ(second("[1, 2]"), "f: line 2: not a JSON object such as {\"id\": \"a\", \"values\": [1, 2]}");
  EXPECT_EQ(second("id,values"), "f: line 2: not valid JSON at byte 1: id,values");
  EXPECT_THAT(second(std::string(100000, '[')), HasSubstr("f: line 2: "));
  EXPECT_EQ(second(good), "f: line 2: the id \"a\" stands on an earlier line too");
}

TEST(SeriesFile, BadCsvIsNamedWithItsLine) {
  const auto third = [&](const std::string& line) { return refusal("id,values\na,1 2\n" + line + "\nz,1\n"); };
  EXPECT_EQ(third("b"), "f: line 3: 1 fields, but the first row has 2");
  EXPECT_EQ(third(",1"), "f: line 3: no 'id'");
  EXPECT_EQ(third("b,"), "f: line 3: 'values' is empty");
  EXPECT_EQ(third("b,[]"), "f: line 3: 'values' is empty");
  EXPECT_EQ(third("b,1 x"), "f: line 3: value 1 is no finite 64-bit number: 'x'");
  EXPECT_EQ(third("b,nan"), "f: line 3: value 0 is no finite 64-bit number: 'nan'");
  EXPECT_EQ(third("b,1e999"), "f: line 3: value 0 is no finite 64-bit number: '1e999'");
  EXPECT_EQ(third("b,inf"), "f: line 3: value 0 is no finite 64-bit number: 'inf'");
  EXPECT_EQ(third("a,3"), "f: line 3: the id \"a\" stands on an earlier line too");
  EXPECT_THAT(third("\"b,3"), HasSubstr("f: line 3: "));
  EXPECT_EQ(refusal("a,b\n1,2\n"),
            "f: line 1: neither a JSON object nor a row of CSV that names the columns 'id' and 'values' (no 'id')");
  EXPECT_EQ(refusal("id,value\n1,2\n"),
            "f: line 1: neither a JSON object nor a row of CSV that names the columns 'id' and 'values' (no 'values')");
}

TEST(SeriesFile, LongLinesAreReadUpToALimit) {
  std::string values = "1";
  while (values.size() < 200'000) values += ",1";
  std::istringstream in("{\"id\": \"a\", \"values\": [" + values + "]}\n{\"id\": \"b\", \"values\": [2]}");
  const std::vector<Series> all = read_series(in, "f");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].values.size(), (values.size() + 1) / 2);
  std::istringstream endless("id,values\n" + std::string(largest_text + 100'000, 'x'));
  EXPECT_ERROR("f: line 2: longer than 67108864 bytes", read_series(endless, "f"));
  std::string many = "id,values\n";
  for (std::size_t i = 0; i <= most_series_values; ++i) many += "a,1\n";
  std::istringstream rows(many);
  EXPECT_ERROR("f: line 2000002: more than 2000000 values in all series", read_series(rows, "f"));
}

TEST(SeriesFile, EmptyFilesAreRefused) {
  EXPECT_EQ(refusal(""), "f: empty; possible: JSON lines, or CSV, with 'id' and 'values'");
  EXPECT_EQ(refusal(" \n\n"), "f: empty; possible: JSON lines, or CSV, with 'id' and 'values'");
  EXPECT_EQ(refusal("id,values\n"), "f: no series below the names of the columns");
}

}  // namespace
}  // namespace gpubench
