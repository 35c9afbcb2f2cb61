#include "core/results/profile_info.h"

#include <gmock/gmock.h>

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

StepProfile small_profile() {
  StepProfile profile;
  profile.steps = 2;
  profile.breakdown.window = {Clock::time_point(0ms), Clock::time_point(20ms)};
  profile.entries = {{SpanClass::compute, {"conv2d", "conv", "gradient"}, Seconds(0.005), 1},
                     {SpanClass::compute, {"conv2d", "conv", "forward"}, Seconds(0.003), 1},
                     {SpanClass::input_wait, {}, Seconds(0.002), 1}};
  IdleGap gap;
  gap.step = 2;
  gap.length = Seconds(0.002);
  gap.doing = SpanClass::host_compute;
  gap.what = "callbacks";
  gap.share = 0.75;
  gap.after = "conv2d of conv";
  profile.gaps = {gap};
  profile.memory = {{"conv", "variables", 640}};
  return profile;
}

TEST(ProfileInfo, HasEntriesLayersOpsGapsAndMemory) {
  const Info info = profile_info(small_profile());
  EXPECT_EQ(info.text("steps"), "2");
  EXPECT_EQ(info.find("entries")->list()->size(), 3U);
  EXPECT_EQ(info.find("layers")->list()->size(), 2U);
  const Info& layer = (*info.find("layers")->list())[0];
  EXPECT_EQ(layer.text("layer"), "conv");
  EXPECT_EQ(layer.text("share"), "0.8");
  EXPECT_EQ(layer.find("op"), nullptr);
  EXPECT_EQ((*info.find("ops")->list())[0].text("op"), "conv2d");
  EXPECT_EQ((*info.find("gaps")->list())[0].text("what"), "callbacks");
  EXPECT_EQ((*info.find("memory")->list())[0].text("bytes"), "640");
  EXPECT_EQ(info.find("doubt"), nullptr);
  EXPECT_EQ(layer.find("flops"), nullptr);
  StepProfile planned = small_profile();
  planned.entries[0].flops = 12;
  planned.entries[0].bytes = 34;
  const Info with_work = profile_info(planned);
  EXPECT_EQ(with_work.items("entries")[0].number("flops"), 12);
  EXPECT_EQ(with_work.items("layers")[0].number("bytes"), 34);
  EXPECT_EQ(parse_json(to_json(info), "profile"), info);
}

TEST(ProfileInfo, IsATextForPeople) {
  StepProfile profile = small_profile();
  profile.breakdown.doubt = "3 spans of the trace were lost";
  const std::string text = profile_text(profile_info(profile));
  EXPECT_THAT(text, HasSubstr("2 steps of 10 ms\nunreliable: 3 spans of the trace were lost\n"));
  EXPECT_THAT(text, HasSubstr("conv                               8 ms  80.0 %        2\n"));
  EXPECT_THAT(text, HasSubstr("(input_wait)                       2 ms  20.0 %        1\n"));
  EXPECT_THAT(text, HasSubstr("2 ms idle in step 2 before conv2d of conv: host_compute (callbacks) for 75 % of it\n"));
}

TEST(ProfileInfo, TheRestOfManyLayersIsOneLine) {
  StepProfile profile = small_profile();
  profile.entries.clear();
  for (int i = 0; i < 30; ++i)
    profile.entries.push_back({SpanClass::compute, {"op", "layer_" + std::to_string(i), "forward"}, Seconds(0.001), 1});
  EXPECT_THAT(profile_text(profile_info(profile)), HasSubstr("10 more "));
}

}  // namespace
}  // namespace gpubench
