#include "core/traces/open_traces.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>

#include "core/base/error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

class OpenTraces : public TemporaryFolder {
 protected:
  static std::string rank(int number, int of, const std::string& name = "k") {
    return fmt::format(R"({{"schemaVersion": 1, "distributedInfo": {{"rank": {}, "world_size": {}}}, "traceEvents": [)"
                       R"({{"ph": "X", "cat": "kernel", "name": "{}", "ts": 1, "dur": 1, "pid": 0, "tid": 7}}]}})",
                       number, of, name);
  }
  std::string why_not(const std::filesystem::path& place) const {
    try {
      open_traces({place});
    } catch (const Error& error) {
      std::string text = error.what();
      const std::string folder = file("").string();
      for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder))
        text.erase(at, folder.size());
      return text;
    }
    return "read";
  }
};

TEST_F(OpenTraces, EqualBytesAreOneRank) {
  const OpenedTraces opened = open_traces({write("a.json", rank(0, 2)), write("b.json", rank(0, 2))});
  EXPECT_EQ(opened.ranks.size(), 1U);
  ASSERT_EQ(opened.notes.size(), 1U);
  EXPECT_NE(opened.notes.front().find("it has the same bytes as"), std::string::npos);
}

TEST_F(OpenTraces, RanksOfDifferentRunsAreNoted) {
  const OpenedTraces same = open_traces({write("a.json", rank(1, 2)), write("b.json", rank(1, 2, "other"))});
  EXPECT_EQ(same.ranks.size(), 2U);
  ASSERT_EQ(same.notes.size(), 1U);
  EXPECT_EQ(same.notes.front(), fmt::format("{} and {} are both rank 1: they may be of different runs",
                                            file("a.json").string(), file("b.json").string()));
  const OpenedTraces sizes = open_traces({write("a.json", rank(0, 2)), write("b.json", rank(1, 8))});
  ASSERT_EQ(sizes.notes.size(), 1U);
  EXPECT_EQ(sizes.notes.front(), fmt::format("{} is of 2 ranks, {} of 8: they are of different runs",
                                             file("a.json").string(), file("b.json").string()));
  EXPECT_TRUE(open_traces({write("a.json", rank(0, 2)), write("b.json", rank(1, 2))}).notes.empty());
}

TEST_F(OpenTraces, AFolderOfOtherFilesHasNoTrace) {
  for (int i = 0; i < 10'000; ++i) write(fmt::format("{:05}.txt", i), "text");
  EXPECT_FALSE(is_trace(file("")));
  EXPECT_EQ(why_not(file("")), "explain: no trace in ");
  write("z.json", rank(0, 1));
  std::filesystem::remove(file("00000.txt"));
  const OpenedTraces opened = open_traces({file("")});
  EXPECT_EQ(opened.ranks.size(), 1U);
  ASSERT_EQ(opened.notes.size(), 1U);
  EXPECT_EQ(opened.notes.front(), "9999 other files were left out, as no traces");
}

TEST_F(OpenTraces, DamagedFilesOfAFolderAreNotedAndTheOthersRead) {
  write("a.json", rank(0, 2));
  write("b.json", R"({"schemaVersion": 1, "tra)");
  write("c.xplane.pb", std::string("\x0A\x7F\x12\x09/host:CPU", 13));
  write("d.sqlite", "SQLite format 3");
  const OpenedTraces opened = open_traces({file("")});
  EXPECT_EQ(opened.ranks.size(), 1U);
  EXPECT_EQ(opened.notes.size(), 3U);
}

TEST_F(OpenTraces, EachKindOfFileSaysWhatItIs) {
  EXPECT_EQ(why_not(write("a.nsys-rep", "report")),
            "a.nsys-rep is a report of Nsight Systems; export it: nsys export --type sqlite a.nsys-rep");
  EXPECT_EQ(why_not(write("a.zst",
                          "\x28\xB5\x2F\xFD"
                          "more")),
            "a.zst is packed with zstd; unpack it: zstd -d FILE");
  EXPECT_EQ(why_not(write("a.xplane.pb", "\x0A\xEF\xBF\xBD\x05\x12\x09/host:CPU")),
            "a.xplane.pb is damaged: no valid XSpace: at byte 5: a field needs 11493359 bytes, 11 are left. It has the "
            "bytes ef bf bd, which stand for others after a copy as text: copy it again as binary");
  for (const char* text : {"", " ", "hello", "\x1F\x8B", "\x1F\x8B\x08 cut"})
    EXPECT_NE(why_not(write("a", text)), "read") << text;
  ASSERT_EQ(mkfifo(file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(why_not(file("pipe")), "explain: pipe is neither a file nor a folder");
}

}  // namespace
}  // namespace gpubench
