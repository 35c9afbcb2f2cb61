#include "core/report/chart/profile_chart.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* profile = R"({
  "steps": 4, "step_s": 0.01,
  "entries": [
    {"class": "compute", "layer": "conv<1>", "op": "conv2d", "role": "forward", "time_s": 0.004, "share": 0.4, "calls": 1},
    {"class": "compute", "layer": "conv<1>", "op": "conv2d", "role": "gradient", "time_s": 0.003, "share": 0.3, "calls": 2},
    {"class": "input_wait", "time_s": 0.0029, "share": 0.29, "calls": 1},
    {"class": "launch", "time_s": 0.0001, "share": 0.01, "calls": 1}],
  "gaps": [{"length_s": 0.002, "share": 0.9, "doing": "input_wait", "after": "conv2d of conv"}],
  "memory": []})";

using ProfileChart = TemporaryFolder;

TEST(FlameChart, WidthsAreTimes) {
  const std::string svg = flame_chart(parse_json(profile, "profile"), "Profile");
  EXPECT_THAT(svg, StartsWith("<svg "));
  EXPECT_THAT(svg, HasSubstr("width=\"540.00\"")) << "the step";
  EXPECT_THAT(svg, HasSubstr("<title>forward · conv&lt;1&gt; · conv2d: 4 ms, 40.0 %</title>"));
  EXPECT_THAT(svg, HasSubstr("x=\"372.60\"")) << "gradients follow the forward pass, and the wait comes first";
  EXPECT_THAT(svg, HasSubstr("<title>input_wait: 2.9 ms, 29.0 %</title>"));
  EXPECT_THAT(svg, Not(HasSubstr("conv<1>")));
}

TEST_F(ProfileChart, OfEachProfileInTheRunsFolder) {
  for (const char* name : {"profile-2.json", "profile-10.json"}) replace_file(file(name), profile);
  replace_file(file("trace-2.json"), "{}");
  std::vector<std::string> notes;
  const std::vector<DrawnChart> charts = profile_charts(file(""), notes);
  ASSERT_EQ(charts.size(), 2U);
  EXPECT_EQ(charts[0].title, "Profile of point 2");
  EXPECT_EQ(charts[1].title, "Profile of point 10");
  EXPECT_THAT(charts[0].figures.rows[0], ElementsAre("conv<1>", "conv2d", "forward", "4 ms", "40.0 %", "1"));
  EXPECT_THAT(charts[0].figures.rows[2], ElementsAre("", "input_wait", "", "2.9 ms", "29.0 %", "1"));
  EXPECT_THAT(charts[0].description, HasSubstr("2 ms, 90 % of it input_wait, before conv2d of conv."));
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(ProfileChart, AFileThatIsNoProfileIsANote) {
  replace_file(file("profile-1.json"), "{\"step_s\": 0}");
  replace_file(file("profile-2.json"), "[");
  replace_file(file("profile-3.json"), "{\"step_s\": 1}");
  std::vector<std::string> notes;
  EXPECT_THAT(profile_charts(file(""), notes), IsEmpty());
  EXPECT_THAT(notes, ElementsAre("no chart of profile-1.json: 'step_s' above 0 is missing",
                                 StartsWith("no chart of profile-2.json: profile-2.json"),
                                 "no chart of profile-3.json: a list 'entries' is missing"));
  EXPECT_THAT(profile_charts(file("nowhere"), notes), IsEmpty());
}

}  // namespace
}  // namespace gpubench
