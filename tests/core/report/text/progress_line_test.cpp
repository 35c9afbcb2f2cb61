#include "core/report/text/progress_line.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <pty.h>
#include <stdexcept>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/report/text/text.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const SweepProgress in_sweep{.left_s = 12, .call_s = 2, .count = "3/24, round 2/9", .text = "batch_size=64 größe=äöü"};
constexpr Activity::Reading measuring{Phase::measuring, 54.2e-6, 0.014};

TEST(ProgressText, TheTimeThatIsLeftComesFirst) {
  EXPECT_EQ(progress_text(in_sweep, measuring, 0, 80),
            "12 s left  3/24, round 2/9  54.2 µs ± 1.4 %  batch_size=64 größe=äöü");
  EXPECT_EQ(progress_text(in_sweep, {}, 0, 80), "12 s left  3/24, round 2/9  preparing  batch_size=64 größe=äöü");
  EXPECT_EQ(progress_text(in_sweep, {Phase::warming_up, 0, 0}, 0, 30), "12 s left  3/24, round 2/9");
  const Activity::Reading first{Phase::measuring, 54.2e-6, std::numeric_limits<double>::infinity()};
  EXPECT_THAT(progress_text(in_sweep, first, 0, 80), HasSubstr("  54.2 µs  batch"));
  EXPECT_THAT(progress_text(in_sweep, {Phase::measuring, 54.2e-6, 1.137}, 0, 80), HasSubstr(" 54.2 µs ± 114 % "));
  EXPECT_EQ(progress_text({.left_s = 3, .text = "busy"}, measuring, 0, 80), "3 s left  busy");
}

TEST(ProgressText, TheCallTakesItsTimeOffAndNoMore) {
  EXPECT_THAT(progress_text(in_sweep, {}, 1.5, 80), StartsWith("10.5 s left"));
  EXPECT_THAT(progress_text(in_sweep, {}, 100, 80), StartsWith("10 s left"));
  EXPECT_THAT(progress_text({.left_s = 1, .call_s = 2}, {}, 100, 80), StartsWith("0 s left"));
}

TEST(ProgressText, FitsAnyWidthByWholeCharacters) {
  for (std::size_t width = 1; width <= 100; ++width) {
    const std::string text = progress_text(in_sweep, measuring, 0, width);
    EXPECT_LE(display_width(text), width);
    EXPECT_EQ(one_line(text), text) << "broken UTF-8 at " << width;
  }
  EXPECT_EQ(progress_text(in_sweep, measuring, 0, 60), "12 s left  3/24, round 2/9  54.2 µs ± 1.4 %  batch_s…öße=äöü");
  EXPECT_EQ(progress_text(in_sweep, measuring, 0, 20), "12 s left");
  EXPECT_EQ(progress_text(in_sweep, measuring, 0, 5), "12 s…");
}

// A terminal, of which the test reads what it gets.
class Terminal {
 public:
  explicit Terminal(unsigned short columns) {
    winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    if (openpty(&reader_, &writer_, nullptr, nullptr, &size) != 0) throw std::runtime_error("openpty failed");
  }
  ~Terminal() {
    close(reader_);
    close(writer_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  int descriptor() const { return writer_; }
  void resize(unsigned short columns) const {
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ioctl(writer_, TIOCSWINSZ, &size);
  }
  /// Blocks until there is something.
  std::string read_some() const {
    std::array<char, 4096> buffer{};
    const ssize_t count = read(reader_, buffer.data(), buffer.size());
    return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
  }
  /// What it has got up to now.
  std::string read_all() const {
    static_cast<void>(write(writer_, "$", 1));
    std::string text;
    while (!text.ends_with('$')) text += read_some();
    text.pop_back();
    return text;
  }

 private:
  int reader_ = -1, writer_ = -1;
};

class ProgressLineTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"XTERM_VERSION", "STY"}) unsetenv(name);
    setenv("TERM", "xterm-256color", 1);
  }
  Activity activity_;
};

TEST_F(ProgressLineTest, IsDrawnAgainAndAgainAndRemoved) {
  const Terminal terminal(80);
  ProgressLine line(activity_, terminal.descriptor());
  line.hide();
  line.show({.left_s = 3, .count = "1/2", .text = "n=1"});
  EXPECT_THAT(terminal.read_some(), HasSubstr("\r3 s left  1/2  preparing  n=1\x1b[K"));
  activity_.begin(Phase::measuring);
  activity_.set_estimate(2e-3, 0.5);
  std::string text;
  while (text.find("2 ms ± 50 %") == std::string::npos) text += terminal.read_some();
  line.hide();
  EXPECT_THAT(terminal.read_all(), EndsWith("\r\x1b[J"));
}

TEST_F(ProgressLineTest, ALineThatTheWindowHasBrokenIsRemovedWhole) {
  const Terminal terminal(81);
  ProgressLine line(activity_, terminal.descriptor());
  line.show({.left_s = 3, .count = "1/2", .text = std::string(200, 'x')});
  terminal.resize(30);  // 80 columns are 3 lines now
  line.hide();
  EXPECT_THAT(terminal.read_all(), HasSubstr("\r\x1b[2A\x1b[J"));
}

TEST_F(ProgressLineTest, ATerminalThatCutsItsLinesLosesNoOther) {
  setenv("XTERM_VERSION", "XTerm(379)", 1);
  const Terminal terminal(81);
  ProgressLine line(activity_, terminal.descriptor());
  line.show({.left_s = 3, .count = "1/2", .text = std::string(200, 'x')});
  terminal.resize(30);
  line.hide();
  EXPECT_THAT(terminal.read_all(), AllOf(EndsWith("\r\x1b[J"), Not(HasSubstr("A\x1b[J"))));
}

TEST_F(ProgressLineTest, WritesNothingWhereThereAreNoEscapesOrNoTerminal) {
  for (const char* dumb : {"dumb", ""}) {
    setenv("TERM", dumb, 1);
    const Terminal terminal(80);
    ProgressLine line(activity_, terminal.descriptor());
    line.show({.left_s = 3, .count = "1/2", .text = "n=1"});
    line.hide();
    EXPECT_EQ(terminal.read_all(), "");
  }
  setenv("TERM", "xterm", 1);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  {
    ProgressLine line(activity_, ends[1]);
    line.show({.left_s = 3, .count = "1/2", .text = "n=1"});
  }
  close(ends[1]);
  char c = 0;
  EXPECT_EQ(read(ends[0], &c, 1), 0);
  close(ends[0]);
}

TEST_F(ProgressLineTest, MayEndWhileItIsShown) {
  const Terminal terminal(80);
  {
    ProgressLine line(activity_, terminal.descriptor());
    line.show({.left_s = 3, .count = "1/2", .text = "n=1"});
  }
  EXPECT_THAT(terminal.read_all(), EndsWith("\r\x1b[J"));
}

}  // namespace
}  // namespace gpubench
