// SQLite with exceptions: a database file with a write-ahead log, statements and transactions. Every failure says in
// words what is wrong with the file and what to do; HistoryUnavailable means that the same call may succeed later.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace gpubench {

/// The file is locked, damaged, of a newer program, or cannot be written now: what was to be stored has to wait.
class HistoryUnavailable : public Error {
 public:
  using Error::Error;
};

/// Another program has a lock on the file.
class HistoryLocked : public HistoryUnavailable {
 public:
  using HistoryUnavailable::HistoryUnavailable;
};

class Statement {
 public:
  Statement(sqlite3* database, std::string file, std::string_view sql);

  /// Parameters count from 1.
  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, double value);
  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, const std::optional<double>& value);
  /// False when there is no further row; the statement can then be bound anew.
  bool step();
  /// Steps to the end and returns nothing.
  void run();

  /// Columns count from 0.
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::optional<double> measured(int column) const;
  std::string text(int column) const;

 private:
  void check(int result) const;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* database_;
  std::string file_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  /// Opens the file, and creates it. Other programs are waited for up to `patience_ms`.
  Database(const std::filesystem::path& file, int patience_ms);

  void execute(std::string_view sql) const;
  /// Readers go on beside a writer then. SQLite does not wait for the lock that the change needs: it is tried again.
  void use_write_ahead_log() const;
  Statement prepare(std::string_view sql) const;
  std::int64_t last_id() const;
  /// Rows that the last statement changed.
  std::int64_t changed() const;
  const std::string& file() const { return file_; }
  /// The file that it is, or would be.
  std::string bytes() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::string file_;
  int patience_ms_;
  std::unique_ptr<sqlite3, Close> database_;
};

/// Takes the right to write at once, so that two writers wait for each other instead of failing half way. Undone unless
/// commit() was called.
class Transaction {
 public:
  explicit Transaction(const Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  const Database& database_;
  bool open_ = true;
};

}  // namespace gpubench
