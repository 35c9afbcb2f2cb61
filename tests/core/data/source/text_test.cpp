#include "core/data/source/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/file_dataset.h"
#include "core/data/stage/distribute.h"
#include "core/data/stage/padded_batch.h"
#include "tests/core/data/texts.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Text : public TemporaryFolder {
 protected:
  DatasetPtr lines(const std::string& text) {
    const std::string path = write("text.txt", text).string();
    return text_lines(std::span(&path, 1));
  }
  std::vector<std::string> paths(const std::vector<std::string>& names) const {
    std::vector<std::string> found;
    for (const std::string& name : names) found.push_back(file(name).string());
    return found;
  }
};

TEST_F(Text, LinesLoseTheirEnds) {
  EXPECT_THAT(read_texts(lines("one\ntwo\r\n\n four ")), ElementsAre("one", "two", "", " four "));
  EXPECT_THAT(read_texts(lines("one\n")), ElementsAre("one"));
  EXPECT_THAT(read_texts(lines("one\r")), ElementsAre("one\r"));
  EXPECT_THAT(read_texts(lines("\n")), ElementsAre(""));
  EXPECT_THAT(read_texts(lines("")), IsEmpty());
}

TEST_F(Text, LinesMayBeLongerThanTheBuffer) {
  const std::string line(300'000, 'x');
  EXPECT_THAT(read_texts(lines(line + "\n" + line + "y\nz")), ElementsAre(line, line + "y", "z"));
}

TEST_F(Text, FilesFollowEachOtherAndCanBeShared) {
  write("a.txt", "1\n2\n");
  write("b.txt", "3");
  const std::vector<std::string> pattern = paths({"?.txt"});
  const DatasetPtr dataset = text_lines(pattern);
  EXPECT_THAT(read_texts(dataset), ElementsAre("1", "2", "3"));
  EXPECT_EQ(to_string(dataset->element_types()), "(uint8[?])");
  EXPECT_THAT(read_texts(file_dataset(*dataset)->every(2, 1)), ElementsAre("3"));
  EXPECT_ERROR(HasSubstr("text_lines: "), text_lines(paths({"c.txt"})));
}

TEST_F(Text, LeavingALineInTheMiddleOfAFileIsNoFault) {
  const std::unique_ptr<Cursor> cursor = lines("a\nb\nc\n")->open();
  EXPECT_EQ(cursor->skip(1), 1);
  EXPECT_THAT(read_texts(*cursor), ElementsAre("b", "c"));
}

TEST_F(Text, EmptyLinesArePaddedAsOthers) {
  const std::unique_ptr<Cursor> cursor = padded_batch(lines("\nab\n"), {.size = 2, .values = {32}})->open();
  Element element;
  ASSERT_TRUE(cursor->next(element));
  EXPECT_THAT(element[0].values<std::uint8_t>(), ElementsAre(' ', ' ', 'a', 'b'));
}

TEST_F(Text, BytesOfAllFilesAreTokens) {
  write("a.txt", "ab");
  write("b.txt", "");
  write("c.txt", "\xff");
  const DatasetPtr tokens = byte_tokens(paths({"a.txt", "b.txt", "c.txt"}));
  EXPECT_EQ(tokens->size(), 3);
  EXPECT_EQ(to_string(tokens->element_types()), "(uint8[])");
  EXPECT_THAT(read_texts(tokens), ElementsAre("a", "b", "\xff"));
}

TEST_F(Text, NoBytesAreAnError) {
  write("b.txt", "");
  const std::string name = file("b.txt").string();
  EXPECT_ERROR("bytes: " + name + " is empty", byte_tokens(paths({"b.txt"})));
  EXPECT_ERROR(HasSubstr("bytes: "), byte_tokens(paths({"none.txt"})));
}

}  // namespace
}  // namespace gpubench
