#include "core/base/known_names.h"

#include <array>
#include <gmock/gmock.h>
#include <string>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::StartsWith;

constexpr std::array<std::string_view, 3> names{"fit", "compile", "evaluate"};

TEST(KnownNames, SuggestsTheNearestOfSimilarNames) {
  EXPECT_EQ(suggestion("compil", names), " (did you mean 'compile'?)");
  EXPECT_EQ(suggestion("evalaute", names), " (did you mean 'evaluate'?)");
  EXPECT_EQ(suggestion("fi", names), " (did you mean 'fit'?)");
}

TEST(KnownNames, AnotherStyleIsTheSameName) {
  constexpr std::array<std::string_view, 2> losses{"mean_squared_error", "huber"};
  EXPECT_EQ(suggestion("MeanSquaredError", losses), " (did you mean 'mean_squared_error'?)");
  EXPECT_EQ(suggestion("HUBER", losses), " (did you mean 'huber'?)");
  EXPECT_EQ(suggestion("_", losses), "");
}

TEST(KnownNames, OtherWordsOfAFewLettersAreNoMisspeltOnes) {
  constexpr std::array<std::string_view, 5> others{"Conv2D", "sub", "tanh", "maximum", "gpu:0"};
  for (const std::string_view word : {"Conv3D", "sum", "sinh", "gpu:1"})
    EXPECT_EQ(suggestion(word, others), "") << word;
  EXPECT_EQ(suggestion("sbu", others), " (did you mean 'sub'?)");
  EXPECT_EQ(suggestion("maxmium", others), " (did you mean 'maximum'?)");
}

TEST(KnownNames, NamesOfOtherLibrariesComeBeforeGuesses) {
  constexpr std::array<std::string_view, 2> losses{"huber", "mean_squared_error"};
  EXPECT_EQ(known_names("mse_loss", losses, "", "loss"), "; here: \"mse\"");
  EXPECT_THAT(known_names("ctc", losses, "; or a function", "loss"),
              AllOf(StartsWith("; not in gpubench: a function of labels and predictions"),
                    EndsWith(" (known: huber, mean_squared_error; or a function)")));
  // An option is an answer only where it exists.
  constexpr std::array<std::string_view, 1> with{"epsilon"}, without{"units"};
  EXPECT_EQ(known_names("eps", with, "", "option"), "; here: epsilon");
  EXPECT_EQ(known_names("eps", without, "", "option"), " (known: units)");
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
