#include "core/base/shell_text.h"

#include <array>
#include <cstdio>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "core/base/shown_text.h"
#include "core/base/split_mix.h"

namespace gpubench {
namespace {

std::string text_of(const std::vector<std::string>& words) {
  return shell_text(words);
}

/// What the shell prints.
std::string said_by(const std::string& shell, const std::string& command) {
  const std::string line = shell + " 2>&1 <<'END_OF_COMMAND'\n" + command + "\nEND_OF_COMMAND\n";
  FILE* const pipe = popen(line.c_str(), "r");
  std::string said;
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) said += buffer.data();
  pclose(pipe);
  return said;
}

/// A word of characters that shells give a meaning.
std::string odd_word(std::uint64_t seed) {
  constexpr std::string_view characters = "'\"\\`$(){}[]<>|&;#~!*?=%^ -n:,.\t\nx";
  std::string word;
  for (std::uint64_t i = 0; i < 12; ++i)
    word += characters[split_mix((seed * 12 + i + 1) * split_mix_step) % characters.size()];
  return word;
}

TEST(ShellText, PlainWordsStayAsTheyAre) {
  EXPECT_EQ(text_of({"gpubench", "run", "a/b.lua", "--set=n=1,2"}), "gpubench run a/b.lua --set=n=1,2");
  EXPECT_EQ(text_of({}), "");
}

TEST(ShellText, OtherWordsAreQuoted) {
  EXPECT_EQ(text_of({"", "a b", "$(x)", "it's", "a\\b", "=ls", "~", "\xC3\xA9"}),
            "'' 'a b' '$(x)' 'it'\\''s' 'a'\\\\'b' '=ls' '~' '\xC3\xA9'");
}

TEST(ShellText, NoCharacterIsHiddenOrExecutedByATerminal) {
  EXPECT_EQ(text_of({"a\x1b[31m", "\n", "\xC2\x9B", "\xE2\x80\xAE", "\xFF"}),
            "'a'$'\\x1b''[31m' $'\\x0a' $'\\xc2\\x9b' $'\\xe2\\x80\\xae' $'\\xff'");
}

TEST(ShellText, ShellsReadTheSameWordsAndRunNothingElse) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::string word = odd_word(seed), text = text_of({"printf", "<%s>\\n", word});
    EXPECT_EQ(said_by("bash", text), "<" + word + ">\n") << text;
    const bool escaped = text.find("$'") != std::string::npos && word.find_first_of("\t\n") != std::string::npos;
    const std::string other = said_by("sh", text);
    EXPECT_TRUE(other.starts_with("<") && other.ends_with(">\n")) << text << other;
    if (!escaped) {
      EXPECT_EQ(other, "<" + word + ">\n") << text;
    }
  }
}

}  // namespace
}  // namespace gpubench
