// A history that is locked, cut, of a newer program, of another one, or on a full disk.
#include <gmock/gmock.h>

#include "core/codec/output_file.h"
#include "core/history/history.h"
#include "core/results/append_file.h"
#include "tests/core/history/nights.h"
#include "tests/core/results/file_size_limit.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using support::near;
using support::no_patience_ms;
using support::run_of;
using support::runs_with;
using ::testing::AllOf;
using ::testing::HasSubstr;

class UnavailableHistory : public TemporaryFolder {
 protected:
  std::filesystem::path path() const { return file("history.db"); }
  void fill() const {
    RunHistory history(path());
    for (const auto& run : runs_with(near(0.01, 30))) history.append(run);
  }
  void open() const { const RunHistory history(path(), no_patience_ms); }
  /// A statement by another program.
  void execute(const char* sql) const { Database(path(), no_patience_ms).execute(sql); }
};

TEST_F(UnavailableHistory, OneThatIsLocked) {
  fill();
  const Database other(path(), no_patience_ms);
  const Transaction writes(other);
  RunHistory history(path(), no_patience_ms);
  EXPECT_EQ(history.runs().size(), 30u) << "reading goes on";
  EXPECT_ERROR_OF(HistoryUnavailable, AllOf(HasSubstr(path().string()), HasSubstr("another program is writing")),
                  history.append(run_of({.started = support::date_of(99)})));
}

TEST_F(UnavailableHistory, OneOfANewerProgram) {
  fill();
  execute("PRAGMA user_version = 99");
  EXPECT_ERROR_OF(HistoryUnavailable, AllOf(HasSubstr("has schema 99"), HasSubstr("newer gpubench")), open());
}

TEST_F(UnavailableHistory, OneThatIsCut) {
  fill();
  const std::string whole = read_file(path());
  ASSERT_GT(whole.size(), 20000u);
  for (const std::size_t size : {std::size_t{10}, std::size_t{100}, std::size_t{5000}, whole.size() / 2}) {
    replace_file(path(), whole.substr(0, size));
    try {
      RunHistory history(path(), no_patience_ms);
      history.append(run_of({.started = support::date_of(99)}));
      history.for_each_series(history.series(), [](const HistorySeries&, const std::vector<HistoryPoint>&) {});
      ADD_FAILURE() << "cut to " << size;
    } catch (const HistoryUnavailable& error) {
      EXPECT_THAT(error.what(), HasSubstr("damaged"));
      EXPECT_THAT(error.what(), HasSubstr("history --rebuild"));
    }
  }
}

TEST_F(UnavailableHistory, OneThatIsCutToNothing) {
  fill();
  replace_file(path(), "");
  write("nightly-smoke.txt", "what a night has left");
  EXPECT_ERROR_OF(HistoryUnavailable, AllOf(HasSubstr("damaged"), HasSubstr("it is empty"), HasSubstr("--rebuild")),
                  open());
  EXPECT_EQ(std::filesystem::file_size(path()), 0u) << "nothing was put in its place";
}

TEST_F(UnavailableHistory, OneOfAnotherProgram) {
  execute("CREATE TABLE theirs(x)");
  EXPECT_ERROR_OF(HistoryUnavailable, HasSubstr("another program"), open());
  write("history.db",
        "not a database at all, but long enough to have a header of one hundred bytes, which is what "
        "SQLite looks at first of all");
  EXPECT_ERROR_OF(HistoryUnavailable, HasSubstr("damaged, or no history"), open());
}

TEST_F(UnavailableHistory, OneThatIsALink) {
  fill();
  std::filesystem::create_symlink(path(), file("link.db"));
  EXPECT_ERROR_OF(HistoryUnavailable, HasSubstr("cannot be opened"), const RunHistory history(file("link.db")));
  std::filesystem::create_directory_symlink(path().parent_path(), file("folder"));
  EXPECT_EQ(RunHistory(file("folder/history.db")).runs().size(), 30u) << "its folder may be reached by one";
}

TEST_F(UnavailableHistory, OneInAFolderThatIsNotThere) {
  EXPECT_ERROR_OF(HistoryUnavailable, HasSubstr("cannot be opened"),
                  const RunHistory history(file("none/history.db"), no_patience_ms));
}

TEST_F(UnavailableHistory, AFullDiskKeepsWhatWasThere) {
  fill();
  RunHistory history(path(), no_patience_ms);
  {
    const FileSizeLimit limit(100);
    EXPECT_THROW(history.append(run_of({.started = support::date_of(99)})), HistoryUnavailable);
  }
  EXPECT_EQ(history.runs().size(), 30u);
  EXPECT_TRUE(history.append(run_of({.started = support::date_of(99)})));
}

// Values that SQLite stored as another type come back as something, never as a crash.
TEST_F(UnavailableHistory, OneWithWrongValues) {
  fill();
  execute("UPDATE points SET value = 'text' WHERE run = 1");
  execute("UPDATE series SET unit = 'furlong' WHERE id = 1");
  const RunHistory history(path(), no_patience_ms);
  EXPECT_ERROR(HasSubstr("furlong"), history.series());
}

}  // namespace
}  // namespace gpubench
