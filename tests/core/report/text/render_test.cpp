#include "core/report/text/render.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "core/report/text/text.h"
#include "core/results/csv.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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

TEST(Render, WarningsStandBeforeTheVerdicts) {
  gpubench::Run run = sample_run();
  run.info.set("warnings", Info::List{"the machine was busy", "a_b\nc"});
  run.info.set("expectations", Info::List{Info::Fields{{"claim", "c"}, {"verdict", "refuted"}, {"reason", "r"}}});
  EXPECT_THAT(render(run, Format::text),
              HasSubstr("\n\nwarning: the machine was busy\nwarning: a_b c\n\n✗ refuted: c\n    r\n"));
  EXPECT_THAT(render(run, Format::markdown),
              StartsWith("**Warning:** the machine was busy\n\n**Warning:** a\\_b c\n\n## e: "));
  run.info.set("warnings", "no list");
  EXPECT_THAT(render(run, Format::text), StartsWith("e: "));
}

gpubench::Run answered_run() {
  gpubench::Run run = sample_run();
  run.info.set("title", "T");
  run.info.set("question", "Why is it slow?");
  run.info.set("figures", Info::List{"examples_per_s"});
  run.info.set("answers", Info::List{Info::Fields{{"answer", "Use a batch of 8 or more."}, {"verdict", "confirmed"}}});
  run.info.set("expectations", Info::List{Info::Fields{{"claim", "It is faster with a larger batch"},
                                                       {"verdict", "confirmed"},
                                                       {"reason", "8.1 times [8, 8.2]"}},
                                          Info::Fields{{"claim", "c"}, {"verdict", "inconclusive"}, {"reason", ""}}});
  for (const std::int64_t batch : {16, 32}) {
    run.records.push_back({{"batch", batch}, {"status", std::string("skipped")}, {"detail", std::string("too large")}});
  }
  for (const char* name : {"status", "detail"}) run.columns.push_back(column_of(name));
  for (int i = 0; i < 2; ++i) run.records[static_cast<std::size_t>(i)].set("status", std::string("ok"));
  return run;
}

TEST(Render, TextEndsWithVerdictsAndAnswer) {
  EXPECT_EQ(render(answered_run(), Format::text),
            "e: T\nWhy is it slow?\nrun r1, done\n\n"
            "batch  examples/s\n"
            "-----  ----------\n"
            "    1      12.3 k\n"
            "    8       100 k\n"
            "\n2 points skipped: too large\n"
            "\n✓ confirmed: It is faster with a larger batch\n"
            "    8.1 times [8, 8.2]\n"
            "? open: c\n"
            "1 confirmed, 1 open, 0 refuted\n"
            "\nanswer: Use a batch of 8 or more.\n");
  EXPECT_THAT(render(answered_run(), Format::text, {.all_columns = true}),
              HasSubstr("batch  examples/s  device\n-----  ----------  ------\n    1      12.3 k  a,b\n"));
  EXPECT_THAT(render(answered_run(), Format::markdown),
              AllOf(HasSubstr("Why is it slow?\n\n**Use a batch of 8 or more.**\n"), HasSubstr("2 points skipped"),
                    HasSubstr("- ✓ confirmed: It is faster with a larger batch (8.1 times \\[8, 8.2])\n")));
}

TEST(Render, TextSaysWhyAPointFailed) {
  gpubench::Run run = answered_run();
  run.records[1].set("status", std::string("out_of_memory"));
  run.records[1].set("detail", std::string("1 GiB wanted"));
  const std::string text = render(run, Format::text, {.width = 80, .failures_told = true});
  EXPECT_THAT(text, HasSubstr("    8       100 k  out_of_memory: 1 GiB wanted\n"));
}

TEST(Render, TextFitsTheTerminal) {
  gpubench::Run run = answered_run();
  run.info.set("answers", Info::List{Info::Fields{{"answer", std::string(300, 'x')}, {"verdict", "confirmed"}},
                                     Info::Fields{{"answer",
                                                   "some words and more of them, one after the other, until "
                                                   "no line can hold them any more, and äöü"},
                                                  {"verdict", "inconclusive"}}});
  for (const char* name : {"loss", "device", "step_time_s", "peak_memory_bytes"}) {
    for (Record& record : run.records) record.set(name, 0.5);
  }
  run.columns.push_back(column_of("step_time_s"));
  run.columns.push_back(column_of("peak_memory_bytes"));
  run.records[1].set("status", std::string("error"));
  run.records[1].set("detail", std::string("a long story: ") + std::string(200, 'y'));
  run.info.set("figures", Info::List{"step_time_s", "examples_per_s", "loss", "peak_memory_bytes"});
  for (const std::size_t width : {60U, 80U, 120U, 200U}) {
    std::istringstream lines(render(run, Format::text, {.width = width}));
    for (std::string line; std::getline(lines, line);) {
      if (line.find("xxx") != std::string::npos) continue;
      EXPECT_LE(display_width(line), width) << line;
    }
  }
  EXPECT_THAT(render(run, Format::text, {.width = 40}), HasSubstr("columns not shown; --wide shows all\n"));
  EXPECT_THAT(render(run, Format::text, {.width = 20}), HasSubstr("batch"));
}

TEST(Render, ColorsVerdictsAndAnswersOnly) {
  const std::string plain = render(answered_run(), Format::text);
  const std::string text = render(answered_run(), Format::text, {.color = true});
  EXPECT_THAT(text, AllOf(HasSubstr("\x1b[32m✓ confirmed:\x1b[0m It is"), HasSubstr("\x1b[33m? open:\x1b[0m c\n"),
                          HasSubstr("\x1b[1manswer:\x1b[0m Use")));
  std::string without = text;
  for (const char* code : {"\x1b[32m", "\x1b[33m", "\x1b[1m", "\x1b[0m"}) {
    for (std::size_t at = 0; (at = without.find(code)) != std::string::npos;) without.erase(at, std::strlen(code));
  }
  EXPECT_EQ(without, plain);
}

TEST(Render, NothingOfRunJsonControlsTheTerminal) {
  gpubench::Run run = sample_run();
  run.info.set("warnings", Info::List{"\x1b[31mred\a"});
  run.info.set("answers", Info::List{Info::Fields{{"answer", "\x1b[31mred\a"}}});
  run.info.set("expectations", Info::List{Info::Fields{{"claim", "\x1b[31mred\a"}, {"reason", "\x1b[31mred\a"}}});
  for (const char* field : {"experiment", "title", "run", "status", "detail", "question"})
    run.info.set(field, "\x1b[31mred\a");
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

TEST(Render, JunitHasTheClaimsAsTests) {
  gpubench::Run run = sample_run();
  run.info.set("started", "2026");
  run.info.set("expectations",
               Info::List{Info::Fields{{"claim", "a < b"}, {"verdict", "confirmed"}, {"reason", "r"}},
                          Info::Fields{{"claim", "c"}, {"verdict", "refuted"}, {"reason", "\"1\" & 2"}},
                          Info::Fields{{"claim", "d"}, {"verdict", "inconclusive"}, {"reason", "noise"}}});
  EXPECT_EQ(render(run, Format::junit), R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="e" tests="4" failures="1" errors="0" skipped="1" timestamp="2026">
  <testcase classname="e" name="a &lt; b"/>
  <testcase classname="e" name="c">
    <failure message="refuted: &quot;1&quot; &amp; 2"/>
  </testcase>
  <testcase classname="e" name="d">
    <skipped message="open: noise"/>
  </testcase>
  <testcase classname="e" name="the run ends"/>
</testsuite>
)");
  run.info.set("status", "died");
  EXPECT_THAT(render(run, Format::junit), AllOf(HasSubstr("errors=\"1\""), HasSubstr("<error message=\"died\"/>")));
}

TEST(Render, UnknownFormatsAreRefused) {
  EXPECT_ERROR("unknown format 'yaml' (known: text, csv, json, markdown, junit)", parse_format("yaml"));
  EXPECT_EQ(parse_format("json"), Format::json);
}

}  // namespace
}  // namespace gpubench
