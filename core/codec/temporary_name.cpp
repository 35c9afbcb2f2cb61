#include "core/codec/temporary_name.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

fs::path temporary_name(const fs::path& target, unsigned number) {
  constexpr std::size_t longest = 200;  // the whole name may have 255 bytes
  return target.parent_path() /
         fmt::format(".{}.{}{}", target.filename().string().substr(0, longest), number, new_ending);
}

enum class Owner { waited_for, left_alone };

// Only under the lock, so that no two programs remove one, and none what has taken its name meanwhile. False if it is
// there still: its owner lives, or may live, or no program of ours made it.
bool remove_at(const fs::path& path, Owner owner) {
  // A pipe is not waited for.
  const Descriptor opened(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!opened) return errno == ENOENT;
  if (owner == Owner::waited_for)
    opened.lock();
  else if (::flock(opened.number(), LOCK_EX | LOCK_NB) != 0)
    return false;
  if (!opened.is_at(path)) return true;
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (type != fs::file_type::regular && type != fs::file_type::directory) return false;
  fs::remove_all(path, error);
  return !error;
}

std::string_view words_of(fs::file_type type) {
  switch (type) {
    case fs::file_type::symlink:
      return "a link, which is not followed,";
    case fs::file_type::directory:
      return "a folder";
    case fs::file_type::regular:
      return "a file";
    default:
      return "a device, pipe or socket";
  }
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

bool Descriptor::is_at(const fs::path& path) const noexcept {
  struct stat own {
  }, there{};
  return ::fstat(number_, &own) == 0 && ::lstat(path.c_str(), &there) == 0 && own.st_dev == there.st_dev &&
         own.st_ino == there.st_ino;
}

void Descriptor::lock() const noexcept {
  while (::flock(number_, LOCK_EX) != 0 && errno == EINTR) continue;
}

fs::path take_temporary_name(const fs::path& target, const std::function<bool(const fs::path&)>& make) {
  for (unsigned number = 0;; ++number) {
    const fs::path name = temporary_name(target, number);
    do {
      if (make(name)) return name;
      if (errno != EEXIST) fail_to_write(target, errno);
    } while (remove_at(name, Owner::left_alone));
  }
}

bool is_temporary(std::string_view name) {
  if (!name.starts_with('.') || (!name.ends_with(new_ending) && !name.ends_with(moved_ending))) return false;
  name.remove_suffix(new_ending.size());
  const std::size_t end = name.find_last_not_of("0123456789");
  return end != std::string_view::npos && end > 0 && end + 1 < name.size() && name[end] == '.';
}

void discard(const fs::path& path) {
  remove_at(path, Owner::waited_for);
}

void remove_left_overs(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (is_temporary(name) && name.ends_with(new_ending)) remove_at(entry->path(), Owner::left_alone);
  }
}

void refuse_other_than(fs::file_type type, const fs::path& path) {
  std::error_code none;
  const fs::file_type found = fs::symlink_status(path, none).type();
  if (found == type || found == fs::file_type::not_found || found == fs::file_type::none) return;
  throw Error(fmt::format("{}: cannot be written: {} has that name; remove it, or choose another name", path.string(),
                          words_of(found)));
}

void fail_to_write(const fs::path& path, int error) {
  throw Error(fmt::format("{}: cannot be written: {}", path.string(), std::generic_category().message(error)));
}

}  // namespace gpubench
