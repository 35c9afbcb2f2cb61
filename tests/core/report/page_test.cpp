#include "core/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const char nasty_page_title[] = "a `touch /tmp/x` \"quoted\", <script>alert(1)</script>\nand {{style}} 'new' line";

TEST(ReportPage, HoldsEverythingAndRunsNothing) {
  gpubench::Run run;
  run.columns = {column_of("batch"), column_of("status"), column_of("detail")};
  run.records = {
      {{"batch", std::int64_t{1}}, {"status", std::string("ok")}},
      {{"batch", std::int64_t{2}}, {"status", std::string("error")}, {"detail", std::string(nasty_page_title)}}};
  run.info =
      Info::Fields{{"experiment", "e"},
                   {"title", nasty_page_title},
                   {"run", "r1"},
                   {"status", "interrupted"},
                   {"axis_names", Info::List{"batch"}},
                   {"machine", Info::Fields{{"memory_bytes", std::int64_t{1} << 30}, {"host", "<host>"}}},
                   {"devices", Info::List{Info::Fields{{"name", "cpu:0"}}}},
                   {"arguments", Info::List{"--set", "x=`1`"}},
                   {"notes", Info::List{"a note <here>"}},
                   {"expectations",
                    Info::List{Info::Fields{{"claim", nasty_page_title}, {"verdict", "refuted"}, {"reason", "1 < 2"}},
                               Info::Fields{{"claim", "c"}, {"verdict", "not measurable here"}, {"reason", "r"}}}}};
  const std::string page = report_page(run, {{nasty_page_title, "<?xml?><svg id='gpX'><!-- chart --></svg>"}});
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page,
              AllOf(HasSubstr("<title>a `touch /tmp/x` &quot;quoted&quot;, &lt;script&gt;alert(1)&lt;/script&gt; and "
                              "{{style}} &#39;new&#39; line"),
                    HasSubstr("<svg id='chart1_gpX'><!-- chart --></svg>"),
                    HasSubstr("<td class=\"verdict refuted\">✗ refuted"), HasSubstr("– not measurable here"),
                    HasSubstr("1 &lt; 2"), HasSubstr("a note &lt;here&gt;"), HasSubstr("<tr class=\"failed\">"),
                    HasSubstr("point , batch 2: <span class=\"failed\">error</span>: a `touch"),
                    HasSubstr("interrupted · 2 rows")));
  EXPECT_THAT(page, AllOf(HasSubstr("<th>machine · memory</th><td>1 GiB</td>"),
                          HasSubstr("<th>machine · host</th><td>&lt;host&gt;</td>"),
                          HasSubstr("<th>devices · 1 · name</th><td>cpu:0</td>"),
                          HasSubstr("<th>arguments</th><td>--set, x=`1`</td>")));
}

TEST(ReportPage, WarningsStandAboveEverythingElse) {
  gpubench::Run run;
  run.info = Info::Fields{{"experiment", "e"}, {"warnings", Info::List{"the machine was <busy>", nasty_page_title}}};
  const std::string page = report_page(run, {});
  const std::string body = page.substr(page.find("<body>"));
  EXPECT_THAT(body, testing::StartsWith("<body>\n<p class=\"warning\" role=\"note\"><strong>Warning:</strong> "
                                        "the machine was &lt;busy&gt;</p>\n<p class=\"warning\""));
  EXPECT_LT(body.rfind("class=\"warning\""), body.find("<h1>"));
  EXPECT_THAT(body, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<th>warnings"))));
  run.info = Info::Fields{{"experiment", "e"}};
  EXPECT_THAT(report_page(run, {}), Not(HasSubstr("class=\"warning\"")));
}

TEST(ReportPage, SaysWhatTheColumnsMean) {
  gpubench::Run run;
  run.columns = {column_of("step_time_s"), column_of("gap_s"), column_of("mfu")};
  run.records = {{{"step_time_s", 0.5}, {"gap_s", 0.1}}};
  const std::string meaning(find_standard_column("step_time_s")->description);
  EXPECT_THAT(report_page(run, {}),
              AllOf(HasSubstr("<h2>What the columns mean</h2>"),
                    HasSubstr("<td><code>step_time_s</code></td><td>s</td><td>" + meaning + "</td>"),
                    HasSubstr("title=\"" + meaning + "\">step time</th>"), HasSubstr("class=\"right\">gap</th>"),
                    Not(HasSubstr("<code>gap_s</code>")), Not(HasSubstr("<code>mfu</code>"))));
  run.records = {{{"gap_s", 0.1}}};
  EXPECT_THAT(report_page(run, {}), Not(HasSubstr("What the columns mean")));
}

TEST(ReportPage, EveryTableScrollsWithinItself) {
  gpubench::Run run;
  run.columns = {column_of("step_time_s")};
  run.records = {{{"step_time_s", 0.5}}};
  run.info = Info::Fields{{"arguments", Info::List{"x"}}};
  const std::string page = report_page(run, {});
  int tables = 0;
  for (std::size_t at = page.find("<table"); at != std::string::npos; at = page.find("<table", at + 1)) {
    const std::size_t line = page.rfind('\n', at) + 1;
    EXPECT_THAT(page.substr(line, at - line), HasSubstr("<div class=\"scroll"));
    ++tables;
  }
  EXPECT_EQ(tables, 3);
}

TEST(ReportPage, ARunWithoutRowsSaysSo) {
  gpubench::Run run;
  run.info = Info::Fields{{"experiment", "only_name"}, {"title", ""}};
  EXPECT_THAT(report_page(run, {}), AllOf(HasSubstr("<h1>only_name</h1>"), HasSubstr("No point was measured."),
                                          Not(HasSubstr("<h2>Charts"))));
}

TEST(IndexPage, GroupsRunsByExperiment) {
  const std::string page = index_page({{.directory = "nowhere",
                                        .experiment = "a",
                                        .name = "r1",
                                        .title = nasty_page_title,
                                        .started = "2026",
                                        .status = "running",
                                        .rows = 3},
                                       {.directory = "nowhere",
                                        .experiment = "b",
                                        .name = "r2",
                                        .title = "",
                                        .started = "",
                                        .status = "done",
                                        .rows = 0}});
  EXPECT_THAT(page, AllOf(HasSubstr("<h2>a</h2>"), HasSubstr("<h2>b</h2>"), HasSubstr("<td>unfinished</td>"),
                          Not(HasSubstr("<script")), Not(HasSubstr("href=\"a/r1"))));
  EXPECT_THAT(index_page({}), HasSubstr("There are no runs yet."));
}

}  // namespace
}  // namespace gpubench
