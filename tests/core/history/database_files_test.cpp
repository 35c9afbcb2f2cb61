// What lies beside a history from elsewhere: journals that name other files, links, pipes; and tables that are not
// ours.
#include "core/history/database_files.h"

#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "core/codec/output_file.h"
#include "core/history/history.h"
#include "core/results/append_file.h"
#include "tests/core/history/nights.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using support::near;
using support::no_patience_ms;
using support::runs_with;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DatabaseFiles : public TemporaryFolder {
 protected:
  std::filesystem::path path() const { return file("history.db"); }
  std::filesystem::path beside(const char* ending) const { return path().string() + ending; }
  std::filesystem::path victim() const { return file("victim"); }
  std::string text_of_victim() const { return read_file(victim()); }
  void SetUp() override {
    write("victim", "precious");
    RunHistory history(path());
    for (const auto& run : runs_with(near(0.01, 3))) history.append(run);
  }
  void open() const { const RunHistory history(path(), no_patience_ms); }
  void execute(const std::string& sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  /// A journal that SQLite takes for that of an interrupted change of several databases, with `super` as their
  /// super-journal.
  std::string journal_of(const std::string& super) const {
    const auto number = [](std::size_t value) {
      std::string bytes;
      for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((value >> shift) & 0xff);
      return bytes;
    };
    const std::string magic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
    const std::size_t page = 4096, sector = 512, lock_page = 0x40000000 / page + 1;
    std::string text = magic + number(0) + number(0) + number(std::filesystem::file_size(path()) / page) +
                       number(sector) + number(page);
    text.resize(sector);
    std::size_t sum = 0;
    for (const char c : super) sum += static_cast<std::size_t>(static_cast<signed char>(c));
    return text + number(lock_page) + super + number(super.size()) + number(sum & 0xffffffff) + magic;
  }
};

TEST_F(DatabaseFiles, ASuperJournalIsNoReasonToRemoveAFile) {
  execute("PRAGMA journal_mode = DELETE");
  const std::string journal = journal_of(victim().string());
  replace_file(beside("-journal"), journal);
  EXPECT_ERROR_OF(HistoryUnavailable,
                  AllOf(HasSubstr("history.db-journal"), HasSubstr("names another file"), HasSubstr("move it away")),
                  open());
  EXPECT_EQ(text_of_victim(), "precious");
  EXPECT_EQ(read_file(beside("-journal")), journal) << "nothing was restored";
}

// The journal is looked at before SQLite opens it: in between, a program that runs meanwhile can replace it.
TEST_F(DatabaseFiles, SqliteItselfOpensNoSuperJournal) {
  execute("PRAGMA journal_mode = DELETE");
  const auto changed = [&](const char* vfs) {
    replace_file(beside("-journal"), journal_of(victim().string()));
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open_v2(path().c_str(), &database, SQLITE_OPEN_READWRITE, vfs), SQLITE_OK);
    const int result = sqlite3_exec(database, "SELECT count(*) FROM runs", nullptr, nullptr, nullptr);
    sqlite3_close(database);
    return result;
  };
  EXPECT_EQ(changed(vfs_without_super_journals()) & 0xff, SQLITE_AUTH);
  EXPECT_EQ(text_of_victim(), "precious");
  EXPECT_EQ(changed(nullptr), SQLITE_OK);
  EXPECT_FALSE(std::filesystem::exists(victim())) << "the journal is none that SQLite would follow";
}

TEST_F(DatabaseFiles, AJournalOfThisFileAloneIsRestored) {
  execute("PRAGMA journal_mode = DELETE");
  replace_file(beside("-journal"), journal_of("").substr(0, 512));
  EXPECT_EQ(RunHistory(path(), no_patience_ms).runs().size(), 3u);
}

TEST_F(DatabaseFiles, LinksAndPipesAreRefused) {
  namespace fs = std::filesystem;
  for (const char* ending : {"-journal", "-wal", "-shm"}) {
    const auto refused = [&](const char* reason) {
      EXPECT_ERROR_OF(HistoryUnavailable, AllOf(HasSubstr(beside(ending).string()), HasSubstr(reason)), open());
      EXPECT_EQ(text_of_victim(), "precious");
      fs::remove(beside(ending));
    };
    fs::remove(beside(ending));
    fs::create_symlink(victim(), beside(ending));
    refused("no plain file");
    fs::create_symlink(file("none"), beside(ending));
    refused("no plain file");
    EXPECT_FALSE(fs::exists(file("none")));
    fs::create_hard_link(victim(), beside(ending));
    refused("other names");
    fs::create_directory(beside(ending));
    refused("no plain file");
    ASSERT_EQ(::mkfifo(beside(ending).c_str(), 0600), 0);
    refused("no plain file");
  }
  EXPECT_EQ(RunHistory(path()).runs().size(), 3u);
}

TEST_F(DatabaseFiles, WhatAnotherProgramHasOpenIsNoFault) {
  RunHistory other(path());
  other.append(support::run_of({.started = support::date_of(99)}));
  ASSERT_TRUE(std::filesystem::exists(beside("-wal")));
  ASSERT_TRUE(std::filesystem::exists(beside("-shm")));
  EXPECT_THAT(fault_beside(path()), IsEmpty());
  EXPECT_EQ(RunHistory(path(), no_patience_ms).runs().size(), 4u);
}

TEST_F(DatabaseFiles, AnOwnerOfBothIsTrustedAnotherIsNot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  constexpr uid_t somebody = 65534, another = 65533;
  write("history.db-wal", "");
  ASSERT_EQ(::chown(beside("-wal").c_str(), somebody, somebody), 0);
  EXPECT_THAT(fault_beside(path()), HasSubstr("another user"));
  ASSERT_EQ(::chown(path().c_str(), somebody, somebody), 0);
  EXPECT_THAT(fault_beside(path()), IsEmpty());
  ASSERT_EQ(::chown(path().c_str(), another, another), 0);
  EXPECT_THAT(fault_beside(path()), HasSubstr("another user"));
}

// Each can be there by an attack only; each would run when the history is read, merged or brought up to date.
TEST_F(DatabaseFiles, TablesThatAreNotOursAreRefused) {
  const std::string good = read_file(path());
  for (const char* sql :
       {"CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END", "CREATE VIEW v AS SELECT * FROM runs",
        "ALTER TABLE runs ADD COLUMN big GENERATED ALWAYS AS (hex(zeroblob(500000000)))",
        "CREATE INDEX slow ON series(length(hex(zeroblob(1000000))))", "DROP TABLE verdicts", "CREATE TABLE more(x)",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "
        "replace(sql, 'REAL', 'TEXT') WHERE name = 'points'",
        "PRAGMA user_version = 1", "PRAGMA user_version = 0"}) {
    execute(sql);
    EXPECT_ERROR_OF(HistoryUnavailable, AllOf(HasSubstr("tables"), HasSubstr("history --rebuild")), open()) << sql;
    for (const char* ending : {"-wal", "-shm"}) std::filesystem::remove(beside(ending));
    replace_file(path(), good);
  }
  execute("ANALYZE");
  EXPECT_EQ(RunHistory(path(), no_patience_ms).runs().size(), 3u) << "statistics of SQLite's own";
}

}  // namespace
}  // namespace gpubench
