#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/results/append_file.h"
#include "lua/api/openers.h"
#include "lua/api/output_path.h"
#include "lua/api/results/measured.h"
#include "lua/api/session.h"
#include "tests/lua/bind/script.h"
#include "tests/support/files.h"

namespace gpubench::lua {
namespace {

using ::testing::HasSubstr;

// `out` and `results` are globals of its scripts, and add(run, point, { row, samples, ... }, ...), which adds rows.
class Results : public ::testing::Test {
 protected:
  Results() {
    set_session(script_.state(), session_);
    open_results(script_.state());
    open_live_runs(script_.state());
    open_stored_runs(script_.state());
    open_stored_run_commands(script_.state());
    Value<std::string>::push(script_.state(), out_.path().string());
    lua_setglobal(script_.state(), "out");
    script_.run(R"lua(
      results = gb._native.results
      function add(run, point, ...) return run:take(results.call({ ... }, {}), point, 1, 0) end
    )lua");
  }

  TemporaryDirectory out_;
  Session session_{SessionOptions{}};
  Script script_;
};

TEST_F(Results, ARunIsWrittenAndReadBack) {
  EXPECT_EQ(script_.run(R"lua(
    local run = results.new_run { experiment = "e", title = "T", axes = { "batch" }, out = out }
    add(run, 1, { row = { batch = 8, step_time_s = 0.5, sound = true, label = "x" }, samples = { 0.4, 0.6 } })
    local calm, failed = add(run, 2, { row = { batch = 16, status = "error", detail = "why" } })
    assert(calm == 0 and failed[1].detail == "why")
    run:set_info { arguments = { "--quick" }, options = { seed = 7, list = { { a = 1 } } } }
    local finished = run:finish { expectations = { { claim = "c", verdict = "confirmed", reason = "r" } } }
    assert(#finished.notes == 0 and finished.report == run:directory() .. "/report.html", finished.report)
    assert(run:opening({}):find("e: T") and run:point_text(2, 0):find("16  error"))
    assert(run:closing({}):find("confirmed"))
    local stored = results.read("e", out)
    assert(stored.info.options.list[1].a == 1 and stored.info.options.seed == 7)
    assert(stored.info.machine.cpus >= 1 and stored.info.process.resident_memory_peak_bytes > 0)
    assert(math.type(stored.rows[1].batch) == "integer" and stored.rows[1].sound == true)
    assert(stored.rows[1].loss == nil and run:rows()[2].point == 2)
    local listed = results.list(out)
    assert(#listed == 1 and listed[1].rows == 2 and listed[1].name == run:name())
    return stored.rows[2].detail .. " " .. stored.info.status
  )lua"),
            "why done");
}

TEST_F(Results, WarningsOfARunAreKeptAndShownFirst) {
  script_.run(R"lua(
    local run = results.new_run { experiment = "e", out = out }
    add(run, 1, { row = { loss = 0.5 } })
    run:set_info { warnings = { "Other programs took 23 %." } }
    run:finish {}
  )lua");
  EXPECT_EQ(script_.run("return results.read('e', out).info.warnings[1]"), "Other programs took 23 %.");
  for (const char* format : {"text", "markdown"}) {
    EXPECT_THAT(script_.run(std::string("return results.render('e', '") + format + "', out)"),
                HasSubstr(format == std::string("text") ? "\nwarning: Other programs took 23 %.\n"
                                                        : "**Warning:** Other programs took 23 %.\n"));
  }
  EXPECT_THAT(read_file(out_.path() / script_.run("return results.read('e', out).directory") / "report.html"),
              HasSubstr("<body>\n<main>\n<p class=\"warning\""));
}

TEST_F(Results, TracesLieBesideTheRowsTheyBelongTo) {
  open_measured(script_.state());
  const auto timeline = std::make_shared<Timeline>(4);
  Span span;
  span.name = span.lane = timeline->name("kernel of a trace");
  timeline->add(span);
  Value<std::shared_ptr<Timeline>>::push(script_.state(), timeline);
  lua_setglobal(script_.state(), "timeline");
  EXPECT_EQ(script_.run(R"lua(
    local run = results.new_run { experiment = "e", out = out }
    add(run, 2, { row = { loss = 1 }, timeline = timeline }, { row = { loss = 2 }, samples = { 0.1 }, timeline = timeline })
    add(run, 3, { row = { loss = 3 } })
    local page = io.open(run:finish({}).report):read("a")
    assert(page:find('href="trace-2.json"', 1, true) and page:find('href="trace-2-2.json"', 1, true))
    return io.open(run:directory() .. "/trace-2-2.json"):read("a"):match("kernel of a trace")
  )lua"),
            "kernel of a trace");
}

TEST_F(Results, ProfilesLieBesideTheRowsTheyBelongTo) {
  EXPECT_EQ(script_.run(R"lua(
    local run = results.new_run { experiment = "e", out = out }
    local profile = { step_s = 0.01, steps = 2, gaps = {}, memory = {},
      entries = { { class = "compute", layer = "dense", op = "matmul", role = "forward", time_s = 0.01, share = 1, calls = 1 } } }
    add(run, 2, { row = { loss = 1 }, profile = profile })
    local page = io.open(run:finish({}).report):read("a")
    assert(page:find('href="profile-2.json"', 1, true) and page:find("Profile of point 2", 1, true))
    return io.open(run:directory() .. "/profile-2.json"):read("a"):match('"dense"')
  )lua"),
            "\"dense\"");
}

TEST_F(Results, TablesAreOfAnyRows) {
  EXPECT_EQ(script_.run("return results.table({ { b = 1, a_s = 0.001 }, { b = 2 } })"),
            "   a  b\n----  -\n1 ms  1\n      2\n");
  EXPECT_EQ(script_.run("return results.table({ { b = 1, a_s = 0.001 } }, { 'b' })"), "b\n-\n1\n");
}

TEST_F(Results, StoredRunsAreRendered) {
  script_.run(
      "local run = results.new_run { experiment = 'e', out = out } add(run, 1, { row = { loss = 0.5 } }) run:finish {}");
  EXPECT_THAT(script_.run("return results.render('e', 'markdown', out)"), HasSubstr("| loss |\n| ---: |\n| 0.5 |"));
}

TEST_F(Results, MistakesAreNamed) {
  EXPECT_THAT(script_.error("results.new_run { experiment = 'a/b', out = out }"),
              HasSubstr("the name 'a/b' cannot name a directory"));
  EXPECT_THAT(script_.error("results.new_run { experimnt = 'e' }"),
              HasSubstr("unknown option 'experimnt' (did you mean 'experiment'?) (known: experiment, title, axes, "
                        "columns, out, charts, claims, figures, chart_formats)"));
  EXPECT_THAT(script_.error("results.call({ { row = { x = {} } } }, {})"), HasSubstr("'x'"));
  EXPECT_THAT(script_.error("results.new_run({ experiment = 'e', out = out }):set_info { f = print }"),
              HasSubstr("'f': boolean, number, string or table of these expected, got function"));
  EXPECT_THAT(script_.error("local t = {} t.t = t results.new_run({ experiment = 'e', out = out }):set_info(t)"),
              HasSubstr("tables are nested more than 32 deep"));
  EXPECT_THAT(
      script_.error("results.new_run({ experiment = 'e', out = out }):finish { charts = { { kind = 'pie', x = 'a', "
                    "y = 'b' } } }"),
      HasSubstr("unknown chart 'pie' (known: line, bar, heat, distribution, course, interval)"));
  EXPECT_THAT(script_.error("results.render('e', 'yaml', out)"), HasSubstr("unknown format 'yaml'"));
  EXPECT_THAT(script_.error("results.read('nothing', out)"), HasSubstr("no run 'nothing'"));
}

TEST_F(Results, ASandboxedScriptWritesBelowItsFolderOnly) {
  confine_output(script_.state(), {out_.path() / "allowed"});
  EXPECT_THAT(script_.error("results.new_run { experiment = 'e', out = out .. '/allowed/../elsewhere' }"),
              HasSubstr("is not below the output folder"));
  script_.run("results.new_run { experiment = 'e', out = out .. '/allowed' }");
}

}  // namespace
}  // namespace gpubench::lua
