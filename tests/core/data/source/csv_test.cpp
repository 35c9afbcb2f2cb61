#include "core/data/source/csv.h"

#include <gmock/gmock.h>
#include <random>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/ignore_errors.h"
#include "tests/core/data/texts.h"
#include "tests/support/descriptors.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

const CsvColumn f32{};
const CsvColumn i64{.dtype = Dtype::i64};
const CsvColumn bytes{.dtype = Dtype::bytes};

std::string shown(const HostTensor& tensor) {
  if (tensor.dtype() == Dtype::u8) return text_of(tensor);
  if (tensor.dtype() == Dtype::i64) return std::to_string(tensor.values<std::int64_t>()[0]);
  std::string text;
  for (const float value : tensor.values<float>()) text += (text.empty() ? "" : " ") + testing::PrintToString(value);
  return text;
}

/// An element's tensors with bars between them, or the text of its error.
std::vector<std::string> read_rows(Cursor& cursor) {
  std::vector<std::string> rows;
  Element element;
  for (;;) {
    try {
      if (!cursor.next(element)) return rows;
      std::string row;
      for (const HostTensor& tensor : element) row += (&tensor == element.data() ? "" : "|") + shown(tensor);
      rows.push_back(row);
    } catch (const Error& error) {
      rows.emplace_back(error.what());
    }
  }
}

class Csv : public TemporaryFolder {
 protected:
  std::vector<std::string> rows(const std::string& text, std::vector<CsvColumn> columns,
                                CsvOptions options = {}) const {
    options.header = false;
    return rows_with(text, std::move(columns), std::move(options));
  }
  std::vector<std::string> rows_with(const std::string& text, std::vector<CsvColumn> columns,
                                     CsvOptions options) const {
    options.columns = std::move(columns);
    return read_rows(*csv(std::vector{write("x.csv", text).string()}, options)->open());
  }
  std::string at(int line) const { return file("x.csv").string() + ": line " + std::to_string(line) + ": "; }
};

TEST_F(Csv, GivesATensorForEachColumn) {
  EXPECT_THAT(rows("1.5,2\n-1e2,-3\r\n4,5", {f32, i64}), ElementsAre("1.5|2", "-100|-3", "4|5"));
  const DatasetPtr dataset = csv(std::vector{file("x.csv").string()}, {.columns = {f32, i64, bytes}});
  EXPECT_EQ(to_string(dataset->element_types()), "(float32[], int64[], uint8[?])");
}

TEST_F(Csv, PacksARow) {
  EXPECT_THAT(rows("1,2,3\n4,5,6\n", {f32, f32, f32}, {.pack = true}), ElementsAre("1 2 3", "4 5 6"));
  EXPECT_THAT(rows("1,2,3\n", {f32, i64, f32}, {.select = {2, 0}, .pack = true}), ElementsAre("3 1"));
}

TEST_F(Csv, IsWrittenIntoTheBatchThatFollows) {
  write("x.csv", "1,2\n3,4\n");
  const DatasetPtr dataset =
      batch(csv(std::vector{file("x.csv").string()}, {.columns = {f32, f32}, .header = false, .pack = true}), 2);
  EXPECT_THAT(read_rows(*dataset->open()), ElementsAre("1 2 3 4"));
}

TEST_F(Csv, UnderstandsQuotes) {
  EXPECT_THAT(rows("\"a,\"\"b\"\"\nc\",\" 1\"\n\"\", 2 \n", {bytes, bytes}), ElementsAre("a,\"b\"\nc| 1", "| 2 "));
  EXPECT_THAT(rows("\"1\",2\n", {f32, i64}), ElementsAre("1|2"));
}

TEST_F(Csv, KeepsBlanksOfTextAndIgnoresThemAroundNumbers) {
  EXPECT_THAT(rows("6,  sp  \n 7\t,\tx y\n", {i64, bytes}), ElementsAre("6|  sp  ", "7|\tx y"));
  EXPECT_THAT(rows(" 1.5 , -2 \n\" 3 \",  \n", {f32, {.dtype = Dtype::i64, .default_value = " 4 "}}),
              ElementsAre("1.5|-2", "3|4"));
  EXPECT_THAT(rows_with("a , b\n1,2\n", {{.name = "a"}, {.name = "b"}}, {}), ElementsAre("1|2"));
}

TEST_F(Csv, ReadsNumbersWithAPlusSign) {
  EXPECT_THAT(rows("+1,+2\n+.5, +3\n1e+2,4\n", {f32, i64}), ElementsAre("1|2", "0.5|3", "100|4"));
  for (const std::string text : {"+", "+-1", "++1", "- 1"}) {
    for (const CsvColumn& column : {f32, i64}) {
      EXPECT_THAT(rows(text + "\n", {column}), ElementsAre(at(1) + "column 1 has '" + text + "', which is no " +
                                                           std::string(to_string(column.dtype))));
    }
  }
}

TEST_F(Csv, NumbersThatAreTooSmallAre0) {
  const std::string zeros(400, '0');
  const std::vector<std::string> small{
      "1e-400", "1E-99999999999999999999", "0." + zeros + "1", "1" + zeros + "e-900", "0.001e-60", "12.5e-80"};
  for (const std::string& text : small) {
    EXPECT_THAT(rows("+" + text + "\n", {f32}), ElementsAre("0")) << text;
    EXPECT_THAT(rows("-" + text + "\n", {f32}), ElementsAre("-0")) << text;
  }
  EXPECT_THAT(rows("1e-40\n", {f32}), ElementsAre(testing::PrintToString(1e-40F)));
  const std::vector<std::string> large{"1e400", "1e99999999999999999999", "1e39", "0." + zeros + "1e900", "-0.1e41"};
  for (const std::string& text : large) {
    EXPECT_THAT(rows(text + "\n", {f32}), ElementsAre(testing::HasSubstr("which is no float32"))) << text;
  }
}

TEST_F(Csv, ShowsFieldsAsFarAsTheyCanBeSeen) {
  using namespace std::string_literals;
  EXPECT_THAT(rows("1\0x\x1b\n"s, {i64}), ElementsAre(at(1) + "column 1 has '1\\x00x\\x1b', which is no int64"));
  EXPECT_THAT(rows(std::string(100000, 'x') + "\n", {i64}),
              ElementsAre(at(1) + "column 1 has '" + std::string(80, 'x') + "... (100000 bytes)', which is no int64"));
}

TEST_F(Csv, ReadsOtherDelimiters) {
  EXPECT_THAT(rows("1\t2\n\t\n", {bytes, bytes}, {.delimiter = '\t'}), ElementsAre("1|2", "|"));
  EXPECT_THAT(rows("1;2\n", {f32, i64}, {.delimiter = ';'}), ElementsAre("1|2"));
}

TEST_F(Csv, PassesOverHeadersAndBlankLines) {
  const std::vector<CsvColumn> columns{{.name = "x"}, i64};
  EXPECT_THAT(rows_with("\xEF\xBB\xBFx,n\n\n1,2\n  \n3,4\n", columns, {}), ElementsAre("1|2", "3|4"));
  EXPECT_THAT(rows_with("y,n\n1,2\n", columns, {}),
              ElementsAre(file("x.csv").string() + ": column 1 is called 'y' in the header, 'x' was given"));
  EXPECT_THAT(rows_with("x\n1,2\n", columns, {}), ElementsAre(at(1) + "1 fields where 2 columns were given"));
}

TEST_F(Csv, HasDefaultsForEmptyFields) {
  EXPECT_THAT(rows(",5\n1,\n", {{.default_value = "7.5"}, {.dtype = Dtype::i64, .default_value = "-1"}}),
              ElementsAre("7.5|5", "1|-1"));
  EXPECT_THAT(rows(",1\n", {{.dtype = Dtype::bytes, .default_value = "none"}, i64}), ElementsAre("none|1"));
}

TEST_F(Csv, LooksOnlyAtSelectedColumns) {
  EXPECT_THAT(rows("text,1,2\n", {f32, f32, i64}, {.select = {2, 1}}), ElementsAre("2|1"));
}

TEST_F(Csv, NamesTheLineThatIsWrongAndGoesOn) {
  EXPECT_THAT(
      rows("1,2\n3\n4,5,6\n\"7\n\",8\n9,x\n,1\n1,99999999999999999999\n7,8\n", {f32, i64}),
      ElementsAre("1|2", at(2) + "1 fields where 2 columns were given", at(3) + "3 fields where 2 columns were given",
                  at(4) + "column 1 has '7\\n', which is no float32", at(6) + "column 2 has 'x', which is no int64",
                  at(7) + "column 1 is empty, and has no default",
                  at(8) + "column 2 has '99999999999999999999', which is no int64", "7|8"));
  EXPECT_THAT(rows("1\r2\n", {f32}),
              ElementsAre(at(1) + "a carriage return outside quotes, and not at the end of the line"));
}

TEST_F(Csv, AStrayQuoteCostsOneLine) {
  const std::vector<std::string> found = rows("1,2\n3,4\"\n5,6\n7,8\n", {f32, i64});
  EXPECT_THAT(
      found, ElementsAre("1|2", at(2) + "column 2: a quote inside a field that does not start with one", "5|6", "7|8"));
}

TEST_F(Csv, SaysWhereAQuoteIsWrong) {
  EXPECT_THAT(rows("1,\"a\nb\n", {i64, bytes}), ElementsAre(at(1) + "column 2: a quote is opened and never closed",
                                                            at(2) + "1 fields where 2 columns were given"));
  EXPECT_THAT(rows("\"a\nb\",c\"\"\n", {bytes, bytes})[0],
              at(2) + "column 2: a quote inside a field that does not start with one");
  EXPECT_THAT(rows("1, \"a\"\n", {i64, bytes}),
              ElementsAre(at(1) + "column 2: a quote inside a field that does not start with one"));
  EXPECT_THAT(rows("\"a\" ,1\n", {bytes, i64}),
              ElementsAre(at(1) + "column 1: text behind the quote that closes the field"));
}

TEST_F(Csv, CountsRowsThatAreIgnored) {
  write("x.csv", "1\nx\n3\n");
  const DatasetPtr rows = csv(std::vector{file("x.csv").string()}, {.columns = {f32}, .header = false});
  const std::unique_ptr<Cursor> cursor = ignore_errors(rows)->open();
  EXPECT_THAT(read_rows(*cursor), ElementsAre("1", "3"));
  EXPECT_EQ(cursor->statistics().back().errors, 1);
}

TEST_F(Csv, ADamagedGzipFileCostsWhatFollowsInIt) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * 7919 % 10007) + "\n";
  {
    OutputFile packed(file("a.csv.gz"));
    GzipWriter gzip(packed);
    gzip.write(std::as_bytes(std::span(text)));
    gzip.finish();
    packed.commit();
  }
  const std::string whole = contents(file("a.csv.gz"));
  write("a.csv.gz", whole.substr(0, whole.size() / 2));
  write("b.csv", "1\n2\n");
  const std::vector files{file("a.csv.gz").string(), file("b.csv").string()};
  const std::vector<std::string> found = read_rows(*csv(files, {.columns = {f32}, .header = false})->open());
  ASSERT_GT(found.size(), 3U);
  EXPECT_THAT(found[found.size() - 3], testing::HasSubstr("a.csv.gz: the compressed data is cut short"));
  EXPECT_EQ(found.back(), "2");
}

TEST_F(Csv, AFileThatChangesIsReadAsItIsInEachEpoch) {
  write("x.csv", "1\n2\n");
  const DatasetPtr rows = csv(std::vector{file("x.csv").string()}, {.columns = {f32}, .header = false});
  EXPECT_THAT(read_rows(*rows->open(0)), ElementsAre("1", "2"));
  write("x.csv", "3\n");
  EXPECT_THAT(read_rows(*rows->open(1)), ElementsAre("3"));
  std::filesystem::remove(file("x.csv"));
  EXPECT_THAT(read_rows(*rows->open(2)), ElementsAre(testing::HasSubstr("x.csv: cannot be opened: No such file")));
}

TEST_F(Csv, ReadsRowsLongerThanItsWindow) {
  const std::string text(1 << 20, 'x');
  EXPECT_THAT(rows("1," + text + "\n2,y\n", {i64, bytes}), ElementsAre("1|" + text, "2|y"));
}

/// A column of text keeps a row from being read the short way.
TEST_F(Csv, GivesTheSameBothWays) {
  constexpr std::string_view letters = "0123456789012345..,,,,--+eEinfa\" \tx";
  const auto values = [](const std::vector<std::string>& found) {
    return found.size() == 1 && found[0].find(": line ") == std::string::npos ? found[0] : "";
  };
  std::mt19937 random(1);
  int accepted = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string row;
    const bool likely = i % 2 == 0;
    for (std::size_t k = 0; k < 1 + random() % 12; ++k) row += letters[random() % (likely ? 22 : letters.size())];
    const CsvColumn second = i % 3 == 0 ? f32 : i64;
    const std::string direct = values(rows(row + "\n", {f32, second}));
    const std::string general = values(rows(row + ",x\n", {f32, second, bytes}));
    ASSERT_EQ(direct.empty() ? "" : direct + "|x", general) << row;
    accepted += !direct.empty();
  }
  EXPECT_GT(accepted, 50);
}

TEST_F(Csv, LeavesNoFileOpen) {
  write("x.csv", "1\nx\n3\n");
  const auto before = open_descriptors();
  const DatasetPtr dataset = csv(std::vector{file("x.csv").string()}, {.columns = {f32}, .header = false});
  Element element;
  dataset->open()->next(element);
  EXPECT_ANY_THROW(batch(dataset, 3)->open()->next(element));
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(Csv, ChecksItsOptions) {
  const std::vector<std::string> files{write("x.csv", "").string()};
  const auto message = [&](const CsvOptions& options, const std::string& text) {
    EXPECT_ERROR("csv: " + text, csv(files, options));
  };
  message({}, "no columns given; at least one is needed");
  message({.columns = {f32}, .delimiter = '.'},
          "'.' cannot be the delimiter, it may be part of a field or of a line end");
  message({.columns = {f32}, .select = {1}}, "column 2 cannot be selected of 1");
  message({.columns = {f32}, .select = {0, 0}}, "column 1 is selected twice");
  message({.columns = {{.dtype = Dtype::i32}}}, "column 1 cannot be int32 (known: float32, int64, bytes)");
  message({.columns = {{.default_value = "x"}}}, "the default of column 1, 'x', is no float32");
  message({.columns = {f32, i64}, .pack = true}, "pack makes a row of float32, and column 2 is int64");
}

}  // namespace
}  // namespace gpubench
