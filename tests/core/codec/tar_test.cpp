#include "core/codec/tar.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/input_limits.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::Throws;

using Tar = TemporaryFolder;

const std::vector<ArchiveEntry> entries{
    {"a/one.txt", "1"},
    {"a/empty", ""},
    {"a/" + std::string(150, 'x') + "/" + std::string(120, 'y'), std::string(512, 'z')},
    {"a/größe.csv", std::string(1000, '\0')}};

void expect_same(const std::vector<ArchiveEntry>& read) {
  ASSERT_EQ(read.size(), entries.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].name, entries[i].name);
    EXPECT_EQ(read[i].bytes, entries[i].bytes);
  }
}

TEST_F(Tar, ReadsWhatItWrote) {
  write_archive(file("a.tar.gz"), entries);
  expect_same(read_archive(file("a.tar.gz")));
}

TEST_F(Tar, TheSameFilesGiveTheSameBytes) {
  write_archive(file("a.tar.gz"), entries);
  write_archive(file("b.tar.gz"), entries);
  EXPECT_EQ(contents(file("a.tar.gz")), contents(file("b.tar.gz")));
}

TEST_F(Tar, OthersUnpackIt) {
  write_archive(file("a.tar.gz"), entries);
  const std::string command = "cd " + file("").string() + " && tar -xzf a.tar.gz 2>&1 && tar -czf again.tar.gz a";
  ASSERT_EQ(std::system(command.c_str()), 0);
  for (const ArchiveEntry& entry : entries) EXPECT_EQ(contents(file(entry.name)), entry.bytes);
  EXPECT_EQ(read_archive(file("again.tar.gz")).size(), entries.size()) << "without the folders";
}

TEST_F(Tar, RefusesWhatIsDamaged) {
  write("text.tar.gz", std::string(2000, 'x'));
  EXPECT_ERROR(HasSubstr("text.tar.gz: is no tar archive, or damaged"), read_archive(file("text.tar.gz")));
  EXPECT_ERROR(HasSubstr("missing.tar.gz"), read_archive(file("missing.tar.gz")));
  write_archive(file("a.tar.gz"), entries);
  const std::string whole = contents(file("a.tar.gz"));
  for (const std::size_t size : {std::size_t{0}, whole.size() / 2, whole.size() - 1}) {
    write("cut.tar.gz", whole.substr(0, size));
    EXPECT_THAT([&] { read_archive(file("cut.tar.gz")); }, Throws<Error>()) << size;
  }
}

TEST_F(Tar, KeepsWhatIsWantedOnly) {
  write_archive(file("a.tar.gz"), entries);
  const auto read = read_archive(file("a.tar.gz"), [](const std::string& name) { return name.ends_with(".csv"); });
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].bytes, entries[3].bytes);
}

TEST_F(Tar, HasLimitsAsAWhole) {
  std::vector<ArchiveEntry> many(most_archive_entries, {"a", ""});
  write_archive(file("many.tar.gz"), many);
  EXPECT_EQ(read_archive(file("many.tar.gz")).size(), most_archive_entries);
  many.push_back({"b", ""});
  write_archive(file("many.tar.gz"), many);
  EXPECT_ERROR(HasSubstr("many.tar.gz: has more than 10000 entries"), read_archive(file("many.tar.gz")));

  const std::string large(largest_text, 'x');
  write_archive(file("sum.tar.gz"), {{"a", large}, {"b", large}, {"c", large}, {"d", large}, {"e", "x"}});
  EXPECT_ERROR(HasSubstr("sum.tar.gz: its entries have more than 268435456 bytes to be read"),
               read_archive(file("sum.tar.gz")));
  const auto none = [](const std::string&) { return false; };
  EXPECT_TRUE(read_archive(file("sum.tar.gz"), none).empty());
  write_archive(file("one.tar.gz"), {{"a\x1b", large + "x"}});
  EXPECT_ERROR(HasSubstr("its entry 'a\\x1b' has 67108865 bytes; at most 67108864 are read"),
               read_archive(file("one.tar.gz")));
}

}  // namespace
}  // namespace gpubench
