#include "core/history/database_files.h"

#include <array>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <sqlite3.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace gpubench {
namespace {

constexpr const char* journal_ending = "-journal";

std::optional<struct stat> status_of(const std::filesystem::path& file) {
  struct stat status {};
  return ::lstat(file.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

/// A journal that belongs to several databases ends with the name of their super-journal, its length and checksum, and
/// these eight bytes. Source: https://www.sqlite.org/fileformat2.html#the_rollback_journal
bool names_super_journal(const std::filesystem::path& journal) {
  constexpr std::string_view magic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  std::ifstream in(journal, std::ios::binary | std::ios::ate);
  if (!in || in.tellg() < static_cast<std::streamoff>(magic.size())) return false;
  std::array<char, magic.size()> end{};
  in.seekg(-static_cast<std::streamoff>(magic.size()), std::ios::end);
  in.read(end.data(), end.size());
  return std::string_view(end.data(), end.size()) == magic;
}

int open_own_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  if ((flags & SQLITE_OPEN_SUPER_JOURNAL) != 0) {
    file->pMethods = nullptr;  // nothing to close
    return SQLITE_AUTH;
  }
  return sqlite3_vfs_find(nullptr)->xOpen(vfs, name, file, flags, out_flags);
}

}  // namespace

std::string fault_beside(const std::filesystem::path& database) {
  const auto own = status_of(database);
  for (const char* ending : {journal_ending, "-wal", "-shm"}) {
    std::filesystem::path beside = database;
    beside += ending;
    const auto status = status_of(beside);
    if (!status) continue;
    const auto fault = [&](std::string_view what) { return fmt::format("'{}' beside it {}", beside.string(), what); };
    if (!S_ISREG(status->st_mode)) return fault("is no plain file");
    if (status->st_nlink != 1) return fault("has other names (hard links), which may lie elsewhere");
    if (status->st_uid != ::geteuid() && !(own && status->st_uid == own->st_uid))
      return fault("belongs to another user");
    if (ending == journal_ending && names_super_journal(beside))
      return fault("names another file, which SQLite would remove");
  }
  return {};
}

// The functions of SQLite's own VFS do not depend on which structure they are called by.
const char* vfs_without_super_journals() {
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs own = *sqlite3_vfs_find(nullptr);
    own.pNext = nullptr;
    own.zName = "gpubench";
    own.xOpen = &open_own_file;
    return own;
  }();
  static const int registered = sqlite3_vfs_register(&vfs, 0);
  return registered == SQLITE_OK ? vfs.zName : nullptr;
}

}  // namespace gpubench
