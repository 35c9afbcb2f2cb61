#include "core/report/text/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubench {
namespace {

const RunAnswer use_64{"Use 64.", Verdict::confirmed};
const RunAnswer not_so{"Not so here: x", Verdict::refuted};
const RunAnswer busy{"Open: a: busy", Verdict::open, "others ran", "wait"};
const RunAnswer few{"Open: b: few", Verdict::open, "too few steps", "more"};
const RunAnswer absent{"Not measurable here: c", Verdict::not_measurable, "no GPU"};

std::string headline_text(const std::vector<RunAnswer>& answers) {
  const std::optional<RunAnswer> headline = headline_of(answers);
  return headline ? headline->text : "nothing";
}

TEST(Headline, IsTheFirstAnswerIfThatIsDecided) {
  EXPECT_EQ(headline_text({use_64, busy}), "Use 64.");
  EXPECT_EQ(headline_text({not_so, use_64}), "Not so here: x");
  EXPECT_EQ(headline_of({}), std::nullopt);
}

TEST(Headline, SaysThatNothingIsProvenAndWhyIfThatIsOneReason) {
  EXPECT_EQ(headline_text({busy}), "Nothing is proven: others ran");
  EXPECT_EQ(headline_of({busy})->remedy, "wait");
  EXPECT_EQ(headline_text({busy, few}), "Nothing is proven");
  EXPECT_EQ(headline_of({busy, few})->remedy, "");
  EXPECT_EQ(headline_text({absent}), "Not measurable here: no GPU");
  EXPECT_EQ(headline_text({{"Open: of an older program", Verdict::open}}), "Nothing is proven");
}

TEST(Headline, OfAMainClaimThatIsOpenNamesItsReason) {
  EXPECT_EQ(headline_text({busy, use_64}), "The main claim is not proven: others ran");
}

}  // namespace
}  // namespace gpubench
