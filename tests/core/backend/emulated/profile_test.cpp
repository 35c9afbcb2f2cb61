#include "core/backend/emulated/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// The text of a known profile with a line replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = to_text(known_profile("h200"));
  const std::size_t begin = text.find(from), end = text.find('\n', begin);
  return text.replace(begin, end - begin, to);
}

auto fails_with(const std::string& message) {
  return ThrowsMessage<Error>(HasSubstr(message));
}

TEST(Profile, those_of_five_accelerators_are_known_with_a_source_for_every_number) {
  std::vector<std::string> names;
  for (const SourcedProfile& one : known_profiles()) {
    names.push_back(one.profile.name);
    for (const std::string& source : one.sources) EXPECT_NE(source, "") << one.profile.name;
    EXPECT_NE(one.profile.product, "") << one.profile.name;
  }
  EXPECT_THAT(names, ElementsAre("a100", "h100", "h200", "t4", "v100"));
  EXPECT_LE(profile_numbers.size(), 12U);
}

TEST(Profile, an_unknown_one_is_refused_with_those_that_there_are) {
  EXPECT_ERROR(
      "unknown emulated accelerator 'h300' (known: a100, h100, h200, "
      "t4, v100; custom is what gb.config.set_custom_profile describes)",
      known_profile("h300"));
}

TEST(Profile, its_text_is_read_back) {
  const SourcedProfile& known = known_profile("t4");
  const SourcedProfile read = parse_profile("t4", to_text(known));
  EXPECT_EQ(read.sources, known.sources);
  EXPECT_EQ(read.profile.product, known.profile.product);
  for (const ProfileNumber& one : profile_numbers) {
    EXPECT_NEAR(read.profile.*one.member, known.profile.*one.member, 1e-3 * known.profile.*one.member) << one.name;
  }
}

TEST(Profile, missing_and_impossible_numbers_are_named_with_their_line) {
  EXPECT_ERROR("profile x: the number launch_s is missing", parse_profile("x", changed("launch_s", "")));
  EXPECT_ERROR("profile x: it has no 'product:'", parse_profile("x", changed("product", "")));
  EXPECT_ERROR("profile x, line 3: memory_bytes_per_s is 0; 1000 to 1e+18 is possible",
               parse_profile("x", changed("memory_bytes_per_s", "memory_bytes_per_s = 0 # measured")));
  EXPECT_THAT([] { parse_profile("x", changed("launch_s", "launch_s = -1 # measured")); },
              fails_with("launch_s is -1; 0 to 1 is possible"));
  EXPECT_THAT([] { parse_profile("x", changed("launch_s", "launch_s = fast # measured")); },
              fails_with("'fast' is no number"));
  EXPECT_THAT([] { parse_profile("x", changed("launch_s", "launch_s = nan # measured")); },
              fails_with("launch_s is nan; 0 to 1 is possible"));
  EXPECT_THAT([] { parse_profile("x", changed("launch_s", "launch_s = 1e-6 #")); },
              fails_with("launch_s has no source"));
  EXPECT_THAT([] { parse_profile("x", changed("launch_s", "kernel_s = 1e-6 # measured")); },
              fails_with("kernel_s is there twice"));
  EXPECT_THAT([] { parse_profile("x", changed("launch_s", "launch = 1e-6 # measured")); },
              fails_with("unknown number of a profile 'launch' (did you mean 'launch_s'?)"));
  EXPECT_THAT([] { parse_profile("x", changed("launch_s", "launch_s")); },
              fails_with("'NUMBER = VALUE  # SOURCE' is expected, got 'launch_s'"));
}

}  // namespace
}  // namespace gpubench
