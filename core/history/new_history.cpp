#include "core/history/new_history.h"

#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <span>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "core/codec/temporary_name.h"
#include "core/history/schema.h"
#include "core/history/sqlite.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

// SQLite writes a file of its own piece by piece, with a journal beside it. Made in memory, all of it is written at
// once.
std::string empty_history() {
  const Database database(":memory:", 0);
  prepare_schema(database);
  std::string bytes = database.bytes();
  // A database in memory has no write-ahead log: the header of a file says that it has one (read and write version 2).
  constexpr std::size_t write_version = 18, read_version = 19;
  bytes.at(write_version) = bytes.at(read_version) = 2;
  return bytes;
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

// Nights leave their texts, and SQLite leaves changes that are not in the file yet.
bool had_history(const fs::path& file) {
  std::error_code error;
  const fs::path log = file.string() + "-wal";
  if (fs::exists(fs::symlink_status(log, error)) && fs::file_size(log, error) > 0) return true;
  for (fs::directory_iterator entry(folder_of(file), error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().native().starts_with("nightly-")) return true;
  return false;
}

// The file with a lock, which keeps other programs from replacing it too; none if it is no such file, or has become
// another one. Older programs made the file empty and filled it within milliseconds.
Descriptor abandoned_empty_file(const fs::path& file) {
  constexpr std::chrono::milliseconds longest_making{1000}, pause{10};
  const auto is_empty = [&](const Descriptor& opened) {
    struct stat status {};
    return opened.is_at(file) && ::fstat(opened.number(), &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_size == 0;
  };
  Descriptor opened(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  for (auto waited = pause; is_empty(opened) && waited < longest_making; waited += pause)
    std::this_thread::sleep_for(pause);
  // Without a lock, two programs could replace it, and what the first one has stored would be lost.
  if (!is_empty(opened) || ::flock(opened.number(), LOCK_EX) != 0 || !is_empty(opened) || had_history(file))
    return Descriptor();
  return opened;
}

}  // namespace

void make_history_once(const fs::path& file) {
  const Descriptor empty = abandoned_empty_file(file);
  std::error_code error;
  if (!empty && (fs::exists(fs::symlink_status(file, error)) || !fs::is_directory(folder_of(file), error))) return;
  const std::string bytes = empty_history();
  try {
    OutputFile output(file);
    output.write(std::as_bytes(std::span(bytes)));
    if (!empty) {
      output.commit_new();
      return;
    }
    const fs::path journal = file.string() + "-journal";  // of the older program: it is about this file
    if (fs::is_regular_file(fs::symlink_status(journal, error))) fs::remove(journal, error);
    output.commit();
  } catch (const Error& failed) {
    throw HistoryUnavailable(fmt::format("history: {}", failed.what()));
  }
}

}  // namespace gpubench
