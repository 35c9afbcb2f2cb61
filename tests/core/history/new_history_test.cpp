#include "core/history/new_history.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "core/history/history.h"
#include "tests/core/history/nights.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using support::near;
using support::no_patience_ms;
using support::run_of;
using support::runs_with;
using ::testing::HasSubstr;

class NewHistory : public TemporaryFolder {
 protected:
  std::filesystem::path path() const { return file("history.db"); }
  std::ptrdiff_t files() const { return std::distance(std::filesystem::directory_iterator(file("")), {}); }
  std::string text_of(const char* sql) const {
    const Database database(path(), no_patience_ms);
    Statement row = database.prepare(sql);
    return row.step() ? row.text(0) : "no row";
  }
};

TEST_F(NewHistory, IsWholeAtOnce) {
  make_history_once(path());
  EXPECT_EQ(files(), 1) << "no journal, no other name";
  EXPECT_EQ(text_of("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(text_of("PRAGMA journal_mode"), "wal");
  EXPECT_EQ(text_of("PRAGMA user_version"), "3");
  RunHistory history(path(), no_patience_ms);
  for (const auto& run : runs_with(near(0.01, 3))) history.append(run);
  EXPECT_EQ(RunHistory(path()).runs().size(), 3u);
  make_history_once(path());
  EXPECT_EQ(RunHistory(path()).runs().size(), 3u) << "one that is there stays";
}

TEST_F(NewHistory, IsMadeByTheFirstOfMany) {
  std::vector<pid_t> processes(8);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    processes[i] = ::fork();
    if (processes[i] != 0) continue;
    try {
      RunHistory(path()).append(run_of({.started = support::date_of(static_cast<int>(i))}));
    } catch (const std::exception&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  for (const pid_t process : processes) {
    int status = 0;
    ::waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(RunHistory(path()).runs().size(), processes.size());
}

// What an older program leaves that is killed while it makes the file.
TEST_F(NewHistory, TakesThePlaceOfAnEmptyFileThatNeverHadOne) {
  write("history.db", "");
  write("history.db-journal", "");
  EXPECT_EQ(RunHistory(path(), no_patience_ms).runs().size(), 0u);
  EXPECT_EQ(files(), 1);
}

TEST_F(NewHistory, DoesNotTakeThePlaceOfOneThatWasCutToNothing) {
  const auto is_refused = [&] {
    write("history.db", "");
    EXPECT_ERROR_OF(HistoryUnavailable, HasSubstr("it is empty"), RunHistory(path(), no_patience_ms));
    EXPECT_EQ(std::filesystem::file_size(path()), 0u);
  };
  write("history.db-wal", "changes");
  is_refused();
  std::filesystem::remove(file("history.db-wal"));
  write("nightly-smoke.txt", "no alarm");
  is_refused();
}

TEST_F(NewHistory, FollowsNoLink) {
  write("victim", "");
  std::filesystem::create_symlink("victim", path());
  EXPECT_THROW(RunHistory(path(), no_patience_ms), HistoryUnavailable);
  EXPECT_EQ(std::filesystem::file_size(file("victim")), 0u);
  std::filesystem::remove(path());
  std::filesystem::create_symlink("nowhere", path());
  EXPECT_THROW(RunHistory(path(), no_patience_ms), HistoryUnavailable);
  EXPECT_FALSE(std::filesystem::exists(file("nowhere")));
}

}  // namespace
}  // namespace gpubench
