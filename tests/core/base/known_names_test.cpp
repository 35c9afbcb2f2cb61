#include "core/base/known_names.h"

#include <array>
#include <string>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

constexpr std::array<std::string_view, 3> names{"fit", "compile", "evaluate"};

TEST(KnownNames, SuggestsTheNearestOfSimilarNames) {
  EXPECT_EQ(suggestion("compil", names), " (did you mean 'compile'?)");
  EXPECT_EQ(suggestion("evalaute", names), " (did you mean 'evaluate'?)");
  EXPECT_EQ(suggestion("fi", names), " (did you mean 'fit'?)");
}

TEST(KnownNames, SuggestsNothingForOthers) {
  EXPECT_EQ(suggestion("", names), "");
  EXPECT_EQ(suggestion("q", names), "");
  EXPECT_EQ(suggestion("predict", names), "");
  EXPECT_EQ(suggestion(std::string(10000, 'e'), names), "");
  EXPECT_EQ(suggestion("fit", {}), "");
}

TEST(KnownNames, ErrorsListWhatThereIs) {
  struct Kind {
    std::string name;
  };
  const std::array<Kind, 2> kinds{Kind{"relu"}, Kind{"tanh"}};
  EXPECT_ERROR("unknown activation 'rellu' (did you mean 'relu'?) (known: relu, tanh; or none)",
               throw_unknown_name("unknown activation", "rellu", names_of(kinds, &Kind::name), "; or none"));
  EXPECT_EQ(known_names("x", {}), " (known: none)");
}

}  // namespace
}  // namespace gpubench
