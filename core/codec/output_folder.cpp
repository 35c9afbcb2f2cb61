#include "core/codec/output_folder.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <sys/stat.h>
#include <system_error>

#include "core/base/error.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

// Returns 0 or an error number.
int rename_with(const fs::path& from, const fs::path& to, unsigned how) {
  return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), how) == 0 ? 0 : errno;
}

// rename() would replace an empty folder, which only a file system that cannot do better leaves to it.
int rename_to_free_name(const fs::path& from, const fs::path& to) {
  const int error = rename_with(from, to, RENAME_NOREPLACE);
  if (error != EINVAL && error != ENOSYS) return error;
  if (::rename(from.c_str(), to.c_str()) == 0) return 0;
  return errno == ENOTEMPTY || errno == ENOTDIR ? EEXIST : errno;
}

bool is_moved_name_of(const fs::path& path, std::string_view name) {
  const std::string begin = fmt::format(".{}.", path.filename().string());
  if (!name.starts_with(begin) || !name.ends_with(moved_ending) || name.size() <= begin.size() + moved_ending.size())
    return false;
  name.remove_prefix(begin.size());
  name.remove_suffix(moved_ending.size());
  return name.find_first_not_of("0123456789") == std::string_view::npos;
}

// A free name ".NAME.N.old" for the folder, which it has then; empty if there is no such folder.
fs::path moved_away(const fs::path& path) {
  for (unsigned number = 0;; ++number) {
    const fs::path name = path.parent_path() / fmt::format(".{}.{}{}", path.filename().string(), number, moved_ending);
    const int error = rename_to_free_name(path, name);
    if (error == 0) return name;
    if (error == ENOENT) return {};
    if (error != EEXIST) fail_to_write(path, error);
  }
}

}  // namespace

OutputFolder::OutputFolder(fs::path path) : path_(std::move(path)) {
  refuse_other_than(fs::file_type::directory, path_);
  settle_folder(path_);
  temporary_ = take_temporary_name(path_, [&](const fs::path& name) {
    constexpr mode_t everyone = 0777;  // less the umask
    if (::mkdir(name.c_str(), everyone) != 0) return false;
    descriptor_ = Descriptor(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (descriptor_) descriptor_.lock();
    if (descriptor_ && descriptor_.is_at(name)) return true;
    errno = EEXIST;  // a program that looked for left-overs removed it before the lock was there
    return false;
  });
}

OutputFolder::~OutputFolder() {
  std::error_code found_later;
  if (!temporary_.empty()) fs::remove_all(temporary_, found_later);
}

void OutputFolder::commit() {
  while (!take_place()) continue;
  temporary_.clear();
  descriptor_ = Descriptor();
}

// False if another program came in between.
bool OutputFolder::take_place() {
  int error = rename_with(temporary_, path_, RENAME_NOREPLACE);
  if (error == EEXIST) {
    refuse_other_than(fs::file_type::directory, path_);
    error = rename_with(temporary_, path_, RENAME_EXCHANGE);
    if (error == 0) discard(temporary_);  // this name has the earlier one now
    if (error == ENOENT) return false;
  }
  if (error == EINVAL || error == ENOSYS) return take_place_in_two_steps();
  if (error != 0) fail_to_write(path_, error);
  return true;
}

bool OutputFolder::take_place_in_two_steps() {
  const fs::path old = moved_away(path_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    settle_folder(path_);
    if (error != ENOTEMPTY && error != EEXIST) fail_to_write(path_, error);
    return false;
  }
  if (!old.empty()) discard(old);
  return true;
}

void settle_folder(const fs::path& path) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : ".";
  remove_left_overs(parent);
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    if (!is_moved_name_of(path, entry->path().filename().native()) || entry->is_symlink(error)) continue;
    // In this order: while its program lives, the place may be taken between the two.
    if (rename_to_free_name(entry->path(), path) == EEXIST) discard(entry->path());
  }
}

void read_whole_folder(const fs::path& path, const std::function<void()>& read) {
  constexpr int most_tries = 100;
  for (int tries = 0; tries < most_tries; ++tries) {
    const Descriptor before(::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const bool none_before = !before && errno == ENOENT;
    // What is no folder is left to `read`, which says so.
    const auto is_the_same = [&] {
      std::error_code unknown;
      return none_before ? fs::symlink_status(path, unknown).type() == fs::file_type::not_found
                         : !before || before.is_at(path);
    };
    try {
      read();
      if (is_the_same()) return;
    } catch (const Error&) {
      if (is_the_same()) throw;
    }
  }
  throw Error(fmt::format("{}: was replaced each of {} times that it was read", path.string(), most_tries));
}

bool remove_folder(const fs::path& path) {
  const Descriptor opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened && errno == ENOENT) return false;
  if (opened) opened.lock();  // until it is removed
  bool was_there = true;
  const fs::path name = take_temporary_name(path, [&](const fs::path& free) {
    errno = rename_to_free_name(path, free);
    was_there = errno != ENOENT;
    return errno == 0 || errno == ENOENT;
  });
  if (!was_there) return false;
  std::error_code error;
  fs::remove_all(name, error);
  if (!error) return true;
  rename_to_free_name(name, path);  // what is left of it is found again
  throw Error(fmt::format("{}: cannot be removed: {}", path.string(), error.message()));
}

}  // namespace gpubench
