#include "core/report/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/codec/output_file.h"
#include "tests/core/diagnose/row.h"
#include "tests/support/files.h"

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
  EXPECT_EQ(page.find("<script"), page.rfind("<script")) << "the page's own one";
  EXPECT_THAT(page,
              AllOf(HasSubstr("<title>a `touch /tmp/x` &quot;quoted&quot;, &lt;script&gt;alert(1)&lt;/script&gt; and "
                              "{{style}} &#39;new&#39; line"),
                    HasSubstr("<svg id='chart1_gpX'><!-- chart --></svg>"),
                    HasSubstr("<td class=\"verdict refuted\">✗ refuted"), HasSubstr("– not measurable here"),
                    HasSubstr("1 &lt; 2"), HasSubstr("a note &lt;here&gt;"), HasSubstr("<tr class=\"failed\">"),
                    HasSubstr("<span class=\"failed\">error: a `touch"), HasSubstr("</span>: point  (batch 2)"),
                    HasSubstr("<p class=\"soft\">e · cpu:0 · &lt;host&gt; · r1 · interrupted · 2 rows · <a")));
  EXPECT_THAT(page, AllOf(HasSubstr("<th scope=\"row\">machine · memory</th><td>1 GiB</td>"),
                          HasSubstr("<th scope=\"row\">machine · host</th><td>&lt;host&gt;</td>"),
                          HasSubstr("<th scope=\"row\">devices · 1 · name</th><td>cpu:0</td>"),
                          HasSubstr("<th scope=\"row\">arguments</th><td>--set, x=`1`</td>")));
}

TEST(ReportPage, WarningsStandAboveEverythingElse) {
  gpubench::Run run;
  run.info = Info::Fields{{"experiment", "e"}, {"warnings", Info::List{"the machine was <busy>", nasty_page_title}}};
  const std::string page = report_page(run, {});
  const std::string body = page.substr(page.find("<body>"));
  EXPECT_THAT(body, testing::StartsWith("<body>\n<main>\n<p class=\"warning\" role=\"note\"><strong>Warning:</strong> "
                                        "the machine was &lt;busy&gt;</p>\n<p class=\"warning\""));
  EXPECT_LT(body.rfind("class=\"warning\""), body.find("<h1>"));
  EXPECT_EQ(body.find("<script"), body.rfind("<script")) << "the page's own one";
  EXPECT_THAT(body, Not(HasSubstr(">warnings</th>")));
  run.info = Info::Fields{{"experiment", "e"}};
  EXPECT_THAT(report_page(run, {}), Not(HasSubstr("class=\"warning\"")));
}

TEST(ReportPage, SaysThatRatiosComeFromRoundsWhereThereAreSome) {
  const TemporaryDirectory folder;
  gpubench::Run run;
  run.directory = folder.path();
  run.info =
      Info::Fields{{"experiment", "e"},
                   {"expectations",
                    Info::List{Info::Fields{{"claim", "c"}, {"verdict", "confirmed"}, {"reason", "the ratio is 2"}}}}};
  const std::string sentence = "it may differ from the quotient of two rows";
  EXPECT_THAT(report_page(run, {}), Not(HasSubstr(sentence)));
  replace_file(folder.path() / "rounds.csv", "point\n");
  EXPECT_THAT(report_page(run, {}), HasSubstr(sentence));
}

TEST(ReportPage, CountsThePointsOfAVerdict) {
  gpubench::Run run;
  run.columns = {column_of("point"), column_of("status")};
  run.info = Info::Fields{{"experiment", "e"}};
  for (const std::int64_t point : {1, 2})
    run.records.push_back({{"point", point}, {"status", std::string("out_of_memory")}});
  EXPECT_THAT(report_page(run, {}), HasSubstr("all points: memory (out of memory)"));
  run.records.push_back({{"point", std::int64_t{3}}, {"status", std::string("ok")}});  // without a measured step
  EXPECT_THAT(report_page(run, {}), HasSubstr("2 points: memory (out of memory)"));
}

TEST(ReportPage, SaysWhatTheColumnsMean) {
  gpubench::Run run;
  run.columns = {column_of("step_time_s"), column_of("gap_s"), column_of("mfu")};
  run.records = {{{"step_time_s", 0.5}, {"gap_s", 0.1}}};
  const std::string meaning(find_standard_column("step_time_s")->description);
  EXPECT_THAT(report_page(run, {}),
              AllOf(HasSubstr("<summary>What the columns mean</summary>"),
                    HasSubstr("<th scope=\"row\"><code>step_time_s</code></th><td>s</td><td>" + meaning + "</td>"),
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
                                          Not(HasSubstr("id=\"charts\""))));
}

TEST(ReportPage, TheFirstScreenAnswersTheQuestion) {
  gpubench::Run run;
  run.columns = {column_of("batch"), column_of("status")};
  run.records = {{{"batch", std::int64_t{1}}, {"status", std::string("ok")}}};
  run.info = Info::Fields{
      {"experiment", "e"},
      {"title", "T"},
      {"question", "Why <so> slow?"},
      {"cause", "The batch is small."},
      {"remedy", "Make it larger."},
      {"axis_names", Info::List{"batch"}},
      {"reading", "Up is good."},
      {"answers", Info::List{Info::Fields{{"answer", "Use <64>."}, {"verdict", "confirmed"}},
                             Info::Fields{{"answer", "Open: who knows"}, {"verdict", "inconclusive"}}}},
      {"expectations", Info::List{Info::Fields{{"claim", "c"}, {"verdict", "confirmed"}, {"reason", "r"}},
                                  Info::Fields{{"claim", "d"}, {"verdict", "inconclusive"}, {"reason", "s"}}}}};
  const std::string page = report_page(run, {{"t", "<svg/>"}});
  std::size_t last = 0;
  for (const char* part :
       {"<p class=\"asked\">Why &lt;so&gt; slow?</p>",
        "<h1><span class=\"symbol confirmed\">✓</span> Use &lt;64&gt;.</h1>", "<details class=\"unproven\">",
        "?</span> Open: who knows", "<strong>Why:</strong> The batch is small.",
        "<strong>Remedy:</strong> Make it larger.", "✓ 1 confirmed", "? 1 open", "✗ 0 refuted", "href=\"results.csv\"",
        "href=\"run.json\"", "<svg", "Up is good.", "id=\"claims\"", "id=\"results\""}) {
    const std::size_t at = page.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    EXPECT_GT(at, last) << part;
    last = at;
  }
  for (const char* field : {"question", "cause", "remedy", "reading", "answers"})
    EXPECT_THAT(page, Not(HasSubstr(std::string("<th scope=\"row\">") + field)));
  EXPECT_THAT(page,
              AllOf(Not(HasSubstr("<th>")), Not(HasSubstr("src=")), HasSubstr("<th scope=\"row\" class=\"right\">1<")));
}

TEST(ReportPage, WhereNothingIsProvenItSaysSoInALineAndFoldsTheRest) {
  gpubench::Run run;
  const auto open = [](const char* text, const char* why) {
    return Info(Info::Fields{
        {"answer", text}, {"verdict", "inconclusive"}, {"why", why}, {"remedy", "repeat it with --wait-idle 600"}});
  };
  run.info = Info::Fields{{"experiment", "e"}, {"answers", Info::List{open("Open: a: busy", "others <ran>")}}};
  const std::string page = report_page(run, {});
  EXPECT_THAT(page, AllOf(HasSubstr("?</span> Nothing is proven: others &lt;ran&gt;</h1>"),
                          HasSubstr("it:</strong> repeat it with <span class=\"whole\">--wait-idle</span> 600</p>")));
  EXPECT_LT(page.find("<details class=\"unproven\">"), page.find("Open: a: busy"));
  run.info = Info::Fields{{"experiment", "e"}, {"question", "Why?"}};
  EXPECT_THAT(report_page(run, {}), AllOf(HasSubstr("<h1>Why?</h1>"), Not(HasSubstr("class=\"asked\"")),
                                          Not(HasSubstr("class=\"unproven\""))));
}

TEST(ReportPage, SaysWhatToDoAtThePointWithMostToGain) {
  gpubench::Run run;
  run.columns = {column_of("point"), column_of("device"), column_of("batch")};
  for (const std::int64_t point : {1, 2}) {
    Record row = support::trained_row({{"point", point}, {"batch", point}});
    if (point == 1) {  // twice as long as on data that lies ready
      for (const auto& [column, value] : {std::pair{"examples_per_s", 16.0},
                                          {"cached_step_time_s", 1.1},
                                          {"resident_step_time_s", 1.0},
                                          {"input_ratio", 2.0},
                                          {"input_ratio_low", 1.98},
                                          {"input_ratio_high", 2.02},
                                          {"input_wait_share", 0.5}})
        row.set(column, value);
      row.set("input_cause_kind", std::string("processing"));
    }
    run.records.push_back(row);
  }
  run.info = Info::Fields{{"experiment", "e"}, {"axis_names", Info::List{"device", "batch"}}};
  const std::string page = report_page(run, {});
  EXPECT_THAT(page, AllOf(HasSubstr("<strong>To do:</strong> "), HasSubstr("<h2 id=\"findings\">What to do</h2>"),
                          HasSubstr("to be gained at point 1: batch=1. "), HasSubstr("; at most ")));
  run.info.set("answers", Info::List{Info::Fields{{"answer", "Use 64."}, {"verdict", "confirmed"}}});
  EXPECT_THAT(report_page(run, {}), AllOf(Not(HasSubstr("<strong>To do:</strong> ")), HasSubstr("id=\"findings\"")));
}

TEST(ReportPage, PaperLeavesOutWhatNoClaimIsAbout) {
  gpubench::Run run;
  run.columns = {column_of("batch"), column_of("loss"), column_of("mfu"), column_of("detail")};
  run.records = {{{"batch", std::int64_t{1}}, {"loss", 0.5}, {"mfu", 0.25}, {"detail", std::string("why")}}};
  run.info = Info::Fields{{"axis_names", Info::List{"batch"}}, {"figures", Info::List{"loss"}}};
  EXPECT_THAT(
      report_page(run, {}),
      AllOf(HasSubstr("<td class=\"right\">0.5</td><td class=\"right extra\">25.0 %</td>"), HasSubstr("<td>why</td>")));
  run.info = Info::Fields{{"axis_names", Info::List{"batch"}}};
  EXPECT_THAT(report_page(run, {}), HasSubstr("<td class=\"right\">25.0 %</td>"));
}

TEST(ReportPage, AChartHasItsFiguresBehindIt) {
  gpubench::Run run;
  DrawnChart chart{.title = "t <1>", .svg = "<svg/>", .description = "it <shows> 7"};
  chart.figures = {{{"x <>", Align::right}, {"y"}}, {{"1", "<7>"}}};
  chart.all_figures = 9;
  chart.links = {{"svg", "../../../plots/e/r/c.svg"}};
  const std::string page = report_page(run, {chart});
  EXPECT_THAT(page, AllOf(HasSubstr("<div role=\"img\" aria-label=\"it &lt;shows&gt; 7\"><svg/></div>"),
                          HasSubstr("<details class=\"figures\"><summary>Figures: t &lt;1&gt;</summary>"),
                          HasSubstr("<th scope=\"col\" class=\"right\">x &lt;&gt;</th><th scope=\"col\">y</th>"),
                          HasSubstr("<tr><th scope=\"row\" class=\"right\">1</th><td>&lt;7&gt;</td></tr>"),
                          HasSubstr("The first 1 of 9."), HasSubstr("<a href=\"../../../plots/e/r/c.svg\">svg</a>"),
                          Not(HasSubstr("2 points have"))));
  chart.left_out = "2 points have no <y>.";
  EXPECT_THAT(report_page(run, {chart}), HasSubstr("\n<p class=\"soft\">2 points have no &lt;y&gt;.</p>\n<details"));
  chart.svg.clear();
  EXPECT_THAT(report_page(run, {chart}), AllOf(HasSubstr("<figcaption>t &lt;1&gt;</figcaption>"),
                                               HasSubstr("<details class=\"figures\" open>"), Not(HasSubstr("<svg"))));
}

TEST(ReportPage, OptionsInSentencesAreNotBroken) {
  gpubench::Run run;
  run.info = Info::Fields{{"warnings", Info::List{"Wait with --wait-idle 600."}},
                          {"answers", Info::List{Info::Fields{{"answer", "Use a --budget, or <b>; also --quick"}}}}};
  EXPECT_THAT(report_page(run, {}), AllOf(HasSubstr("Wait with <span class=\"whole\">--wait-idle</span> 600.</p>"),
                                          HasSubstr("Use a <span class=\"whole\">--budget</span>, or &lt;b&gt;; also "
                                                    "<span class=\"whole\">--quick</span></h1>")));
}

TEST(ReportPage, OnlyMarksThatChartsHaveAreExplained) {
  const std::string intervals = "Thin lines with flat ends are 95 % intervals.", rings = "A ring marks a figure";
  DrawnChart chart{.title = "t", .svg = "<svg/>"};
  EXPECT_THAT(report_page({}, {chart}), AllOf(Not(HasSubstr(intervals)), Not(HasSubstr(rings))));
  chart.has_intervals = true;
  EXPECT_THAT(report_page({}, {chart}), AllOf(HasSubstr(intervals), Not(HasSubstr(rings))));
  chart.has_rings = true;
  EXPECT_THAT(report_page({}, {DrawnChart{}, chart}), AllOf(HasSubstr(intervals), HasSubstr(rings)));
}

TEST(ReportPage, ThousandsOfRowsAreCut) {
  gpubench::Run run;
  run.columns = {column_of("batch"), column_of("status"), column_of("quality"), column_of("step_time_s")};
  for (int i = 0; i < 20; ++i) run.columns.push_back(column_of("figure_" + std::to_string(i) + "_s"));
  for (std::int64_t batch = 1; batch <= 5000; ++batch) {
    Record row{{"batch", batch}, {"status", std::string("ok")}, {"quality", std::string("unreliable: noise")}};
    for (std::size_t i = 3; i < run.columns.size(); ++i) row.set(run.columns[i].name, 1.234567);
    run.records.push_back(row);
  }
  run.info = Info::Fields{{"axis_names", Info::List{"batch"}}};
  const std::string page = report_page(run, {});
  EXPECT_LT(page.size(), 3'000'000u);
  EXPECT_THAT(page, AllOf(HasSubstr(" of 5000 rows; results.csv has all."), HasSubstr("The first 25 of 5000 rows."),
                          HasSubstr("<tr class=\"rest\">"), HasSubstr("and 4980 more")));
  run.records.resize(25);
  EXPECT_THAT(report_page(run, {}), AllOf(Not(HasSubstr("The first")), Not(HasSubstr("class=\"rest\""))));
}

TEST(ReportPage, SkippedPointsAreOneLineAndNoRows) {
  gpubench::Run run;
  run.columns = {column_of("batch"), column_of("status"), column_of("detail"), column_of("quality")};
  run.info = Info::Fields{{"axis_names", Info::List{"batch"}}};
  for (std::int64_t batch = 1; batch <= 9; ++batch) {
    run.records.push_back({{"batch", batch}, {"status", std::string(batch % 2 == 0 ? "ok" : "skipped")}});
    if (batch % 2 != 0) run.records.back().set("detail", std::string("too <odd>"));
    if (batch % 2 == 0) run.records.back().set("quality", std::string("unreliable: noise"));
  }
  const std::string page = report_page(run, {});
  EXPECT_THAT(page, AllOf(HasSubstr("<p class=\"soft\">5 points skipped: too &lt;odd&gt;</p>"),
                          HasSubstr("<summary>4 rows not reliable"), Not(HasSubstr(">skipped<")),
                          HasSubstr("unreliable: noise</span>: point  (batch 2), point  (batch 4)")));
}

TEST(ReportPage, ADoubtOfOneKindIsOneLine) {
  gpubench::Run run;
  run.columns = {column_of("batch"), column_of("status"), column_of("quality"), column_of("doubt")};
  run.info = Info::Fields{{"axis_names", Info::List{"batch"}}};
  for (std::int64_t batch = 1; batch <= 3; ++batch) {
    run.records.push_back({{"batch", batch},
                           {"status", std::string("ok")},
                           {"quality", "unreliable: others took " + std::to_string(batch) + "0 %"},
                           {"doubt", std::string("busy")}});
  }
  const std::string page = report_page(run, {});
  EXPECT_THAT(page,
              HasSubstr("unreliable: others took 10 %</span>: point  (batch 1), point  (batch 2), point  (batch 3)"));
  EXPECT_THAT(page, Not(HasSubstr("others took 20 %</span>")));
}

TEST(IndexPage, IsOneTableNewestFirst) {
  RunSummary old{.directory = "nowhere",
                 .experiment = "a",
                 .name = "r1",
                 .title = nasty_page_title,
                 .started = "2025",
                 .status = "running",
                 .rows = 3};
  RunSummary recent{.directory = "nowhere",
                    .experiment = "b",
                    .name = "r2",
                    .title = "",
                    .started = "2026",
                    .status = "done",
                    .rows = 0,
                    .info = Info::Fields{
                        {"machine", Info::Fields{{"host", "node7"}}},
                        {"program", Info::Fields{{"commit", "0123456789"}}},
                        {"devices", Info::List{Info::Fields{{"name", "cpu:0"}, {"description", "AMD EPYC, 2 threads"}},
                                               Info::Fields{{"name", "gpu:0"}, {"description", "NVIDIA T4, 14 GiB"}},
                                               Info::Fields{{"name", "gpu:1"}, {"description", "NVIDIA T4, 14 GiB"}}}},
                        {"answers", Info::List{Info::Fields{{"answer", "Use 64."}, {"verdict", "confirmed"}}}},
                        {"expectations", Info::List{Info::Fields{{"claim", "c"}, {"verdict", "refuted"}}}}}};
  const std::string page = index_page({old, recent});
  EXPECT_THAT(page,
              AllOf(HasSubstr("<td>unfinished</td>"), Not(HasSubstr("href=\"a/r1")), Not(HasSubstr("alert(1)</s")),
                    HasSubstr("<td class=\"text\">Use 64.</td>"), HasSubstr("✗ 1"), HasSubstr("<td>node7</td>"),
                    HasSubstr("<td>AMD EPYC, 2 threads + 2 × NVIDIA T4, 14 GiB</td><td>0123456</td><td>done</td>")));
  EXPECT_LT(page.find(">b</th>"), page.find(">a</th>"));
  EXPECT_THAT(index_page({}), HasSubstr("There are no runs yet."));
}

}  // namespace
}  // namespace gpubench
