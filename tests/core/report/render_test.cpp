#include "core/report/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/results/csv.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

const char nasty_title[] = "a `touch /tmp/x` \"quoted\", <script>alert(1)</script>\nand a 'new' line";

gpubench::Run sample_run() {
  return {.directory = {},
          .columns = {column_of("batch"), column_of("examples_per_s"), column_of("device"), column_of("loss")},
          .records = {{{"batch", std::int64_t{1}}, {"examples_per_s", 12345.0}, {"device", std::string("a,b")}},
                      {{"batch", std::int64_t{8}}, {"examples_per_s", 99999.0}, {"device", std::string("a,b")}}},
          .info = Info::Fields{{"experiment", "e"},
                               {"title", nasty_title},
                               {"run", "r1"},
                               {"status", "done"},
                               {"axis_names", Info::List{"batch"}}}};
}

TEST(Render, TextHasOneLinePerRow) {
  EXPECT_EQ(render(sample_run(), Format::text),
            "e: a `touch /tmp/x` \"quoted\", <script>alert(1)</script> and a 'new' line\n"
            "run r1, done\n\n"
            "batch  examples/s\n"
            "-----  ----------\n"
            "    1      12.3 k\n"
            "    8       100 k\n"
            "\nall rows: device a,b\n");
}

TEST(Render, ARunThatWasLostSaysHow) {
  gpubench::Run run = sample_run();
  run.info.set("status", "error");
  run.info.set("detail", "process 0 (a_b, pid 7) was lost");
  EXPECT_THAT(render(run, Format::text), HasSubstr("\nrun r1, error: process 0 (a_b, pid 7) was lost\n"));
  EXPECT_THAT(render(run, Format::markdown), HasSubstr("- run: r1, error: process 0 (a\\_b, pid 7) was lost\n"));
}

TEST(Render, WarningsComeFirst) {
  gpubench::Run run = sample_run();
  run.info.set("warnings", Info::List{"the machine was busy", "a_b\nc"});
  EXPECT_THAT(render(run, Format::text), StartsWith("warning: the machine was busy\nwarning: a_b c\ne: "));
  EXPECT_THAT(render(run, Format::markdown),
              StartsWith("**Warning:** the machine was busy\n\n**Warning:** a\\_b c\n\n## e: "));
  run.info.set("warnings", "no list");
  EXPECT_THAT(render(run, Format::text), StartsWith("e: "));
}

TEST(Render, NothingOfRunJsonControlsTheTerminal) {
  gpubench::Run run = sample_run();
  run.info.set("warnings", Info::List{"\x1b[31mred\a"});
  for (const char* field : {"experiment", "title", "run", "status", "detail"}) run.info.set(field, "\x1b[31mred\a");
  for (const Format format : {Format::text, Format::markdown}) {
    const std::string text = render(run, format);
    EXPECT_THAT(text, HasSubstr("[31mred"));
    EXPECT_EQ(text.find_first_of("\x1b\a"), std::string::npos) << text;
  }
}

TEST(Render, MarkdownEscapesTheTitle) {
  const std::string text = render(sample_run(), Format::markdown);
  EXPECT_THAT(text, HasSubstr("## e: a \\`touch /tmp/x\\` \"quoted\", &lt;script>"));
  EXPECT_THAT(text, HasSubstr("| batch | examples/s |\n| ---: | ---: |\n| 1 | 12.3 k |\n"));
}

TEST(Render, CsvHasPlainValues) {
  EXPECT_EQ(render(sample_run(), Format::csv),
            "batch,examples_per_s,device,loss\r\n1,12345.0,\"a,b\",\r\n8,99999.0,\"a,b\",\r\n");
}

TEST(Render, JsonHasFactsAndRowsWithoutEmptyCells) {
  const Info json = parse_json(render(sample_run(), Format::json), "test");
  EXPECT_EQ(json.find("run")->text("title"), nasty_title);
  const auto& rows = *json.find("rows")->list();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].text("examples_per_s"), "12345.0");
  EXPECT_EQ(rows[0].find("loss"), nullptr);
}

TEST(Render, UnknownFormatsAreRefused) {
  EXPECT_THAT([] { parse_format("yaml"); },
              ThrowsMessage<Error>("unknown format 'yaml' (known: text, csv, json, markdown)"));
  EXPECT_EQ(parse_format("json"), Format::json);
}

}  // namespace
}  // namespace gpubench
