#include "core/diagnose/remedy.h"

#include <gmock/gmock.h>

#include "tests/support/expect_error.h"

namespace gpubench::remedy_test {
namespace {

using ::testing::HasSubstr;

TEST(Remedy, TheTableIsInTheOrderOfTheEnum) {
  std::size_t index = 0;
  for (const RemedyText& text : remedies()) {
    EXPECT_EQ(static_cast<std::size_t>(text.remedy), index++) << text.name;
    EXPECT_EQ(&text_of(text.remedy), &text);
    EXPECT_EQ(remedy_named(text.name), text.remedy);
    EXPECT_NE(text.advice, "") << text.name;
    EXPECT_NE(text.line(Words::lua), "") << text.name;
  }
  EXPECT_EQ(remedy_named("magic"), std::nullopt);
}

TEST(Remedy, LinesAreInTheWordsOfWhoAsks) {
  EXPECT_THAT(text_of(Remedy::graph).line(parse_words("lua")), HasSubstr("execution = \"graph\""));
  EXPECT_THAT(text_of(Remedy::graph).line(parse_words("pytorch")), HasSubstr("torch.compile"));
  EXPECT_THAT(text_of(Remedy::graph).line(parse_words("keras")), HasSubstr("run_eagerly=False"));
  EXPECT_THAT(text_of(Remedy::graph).line(Words::keras), Not(HasSubstr("jit_compile"))) << "eager Keras has none";
  EXPECT_ERROR(HasSubstr("lua, pytorch, keras, jax"), parse_words("latin"));
}

}  // namespace
}  // namespace gpubench::remedy_test
