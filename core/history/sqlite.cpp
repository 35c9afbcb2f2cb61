#include "core/history/sqlite.h"

#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <sqlite3.h>
#include <thread>

#include "core/base/clock.h"
#include "core/history/database_files.h"

namespace gpubench {
namespace {

constexpr const char* rebuild_remedy = "move it away, then 'gpubench history --rebuild' makes a new one from the runs";

std::string reason_of(int result, const std::string& message) {
  switch (result & 0xff) {  // the primary code
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another program is writing it and does not end; try again later";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return fmt::format("it is damaged, or no history ({}); {}", message, rebuild_remedy);
    case SQLITE_AUTH:  // open_own_file() in database_files.cpp
      return "a journal beside it names another file, which SQLite would remove; move both away";
    case SQLITE_FULL:
      return "the disk is full";
    case SQLITE_IOERR:
      return fmt::format("the disk cannot be read or written ({}); it may be full", message);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return fmt::format("it cannot be opened for this ({}); check its folder and their permissions", message);
    default:
      return message;
  }
}

[[noreturn]] void fail_database(const std::string& file, int result, const std::string& message) {
  const std::string reason = fmt::format("history: '{}': {}", file, reason_of(result, message));
  const int primary = result & 0xff;
  if (primary == SQLITE_BUSY || primary == SQLITE_LOCKED) throw HistoryLocked(reason);
  throw HistoryUnavailable(reason);
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement::Statement(sqlite3* database, std::string file, std::string_view sql)
    : database_(database), file_(std::move(file)) {
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement, nullptr));
  statement_.reset(statement);
}

void Statement::check(int result) const {
  if (result != SQLITE_OK) fail_database(file_, result, sqlite3_errmsg(database_));
}

Statement& Statement::bind(int index, std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), index, value));
  return *this;
}

Statement& Statement::bind(int index, double value) {
  check(sqlite3_bind_double(statement_.get(), index, value));
  return *this;
}

Statement& Statement::bind(int index, std::string_view text) {
  check(sqlite3_bind_text64(statement_.get(), index, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(int index, const std::optional<double>& value) {
  if (value) return bind(index, *value);
  check(sqlite3_bind_null(statement_.get(), index));
  return *this;
}

bool Statement::step() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) {
    const std::string message = sqlite3_errmsg(database_);
    sqlite3_reset(statement_.get());
    fail_database(file_, result, message);
  }
  sqlite3_reset(statement_.get());
  return false;
}

void Statement::run() {
  while (step()) continue;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::optional<double> Statement::measured(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
  return real(column);
}

std::string Statement::text(int column) const {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return text ? std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)))
              : std::string();
}

void Database::Close::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

// SQLite would refuse a link anywhere in the path. Only the file itself must be none: a script may have planted it.
std::string without_links_in_folder(const std::filesystem::path& file) {
  std::error_code shown_when_opened;
  const std::filesystem::path folder = std::filesystem::canonical(file.parent_path(), shown_when_opened);
  return shown_when_opened ? file.string() : (folder / file.filename()).string();
}

// SQLite takes an empty file for a new database: a history that was cut to nothing would begin anew without a word.
void refuse_empty_file(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_regular_file(file, error) && std::filesystem::file_size(file, error) == 0 && !error)
    fail_database(file.string(), SQLITE_CORRUPT, "it is empty");
}

// Longer texts are in no history; an expression of a schema from elsewhere could make them.
constexpr int most_bytes_of_value = 16 << 20;

// The file may come from elsewhere: nothing in its schema may run, damaged pages are noticed, and SQLite touches no
// file but this one and what is beside it.
Database::Database(const std::filesystem::path& file, int patience_ms)
    : file_(file.string()), patience_ms_(patience_ms) {
  const std::string path = without_links_in_folder(file);
  if (const std::string fault = fault_beside(path); !fault.empty())
    throw HistoryUnavailable(
        fmt::format("history: '{}': {}; move it away, and this history too if it comes from elsewhere", file_, fault));
  refuse_empty_file(file);
  sqlite3* database = nullptr;
  const int result =
      sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW,
                      vfs_without_super_journals());
  database_.reset(database);
  if (result != SQLITE_OK) {
    fail_database(file_, result, database ? sqlite3_errmsg(database) : "out of memory");
  }
  sqlite3_extended_result_codes(database, 1);
  sqlite3_busy_timeout(database, patience_ms);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, most_bytes_of_value);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  execute("PRAGMA cell_size_check = ON");
  execute("PRAGMA foreign_keys = ON");
}

void Database::execute(std::string_view sql) const {
  prepare(sql).run();
}

void Database::use_write_ahead_log() const {
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(patience_ms_);
  for (;;) {
    try {
      return execute("PRAGMA journal_mode = WAL");
    } catch (const HistoryLocked&) {
      if (Clock::now() >= end) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Statement Database::prepare(std::string_view sql) const {
  return {database_.get(), file_, sql};
}

std::string Database::bytes() const {
  const auto free = [](unsigned char* bytes) { sqlite3_free(bytes); };
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, decltype(free)> bytes(sqlite3_serialize(database_.get(), "main", &size, 0),
                                                             free);
  if (!bytes) fail_database(file_, SQLITE_NOMEM, "out of memory");
  return {reinterpret_cast<const char*>(bytes.get()), static_cast<std::size_t>(size)};
}

std::int64_t Database::last_id() const {
  return sqlite3_last_insert_rowid(database_.get());
}

std::int64_t Database::changed() const {
  return sqlite3_changes64(database_.get());
}

Transaction::Transaction(const Database& database) : database_(database) {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const Error&) {
    // SQLite has undone it already.
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace gpubench
