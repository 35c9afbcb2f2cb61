#include "core/results/append_file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr mode_t file_mode = 0644;
constexpr std::size_t page_of_cache = 4096;

[[noreturn]] void fail(std::string_view action, const std::filesystem::path& path, int error) {
  throw Error(
      fmt::format("results: cannot {} '{}': {}", action, path.string(), std::generic_category().message(error)));
}

Descriptor open_to_append(const std::filesystem::path& path) {
  Descriptor descriptor(::open(path.c_str(), O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, file_mode));
  if (!descriptor) {
    const int error = errno;
    refuse_other_than(std::filesystem::file_type::regular, path);
    fail("open", path, error);
  }
  return descriptor;
}

// How much of the text the next write takes, at `offset` of the file: whole lines that end within its page, or else one
// line. The kernel looks for a deadly signal between pages, so that it ends a write there.
std::size_t whole_lines(std::string_view text, std::size_t offset) {
  const std::string_view in_page = text.substr(0, page_of_cache - offset % page_of_cache);
  if (in_page.size() == text.size()) return text.size();
  std::size_t end = in_page.rfind('\n');
  if (end == std::string_view::npos) end = text.find('\n');
  return end == std::string_view::npos ? text.size() : end + 1;
}

// Returns 0, or the error number of the failed call. `offset`: where the text begins in the file.
int write_all(int descriptor, std::string_view text, std::size_t offset) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), whole_lines(text, offset));
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      offset += static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  // A disk may turn out to be full only here. Pipes and some file systems cannot synchronize, which is no failure.
  if (::fdatasync(descriptor) != 0 && errno != EINVAL && errno != EROFS) return errno;
  return 0;
}

}  // namespace

AppendFile::AppendFile(std::filesystem::path path)
    : path_(std::move(path)), descriptor_(open_to_append(path_)), size_(::lseek(descriptor_.number(), 0, SEEK_END)) {}

void AppendFile::append(std::string_view text) {
  if (const int error = write_all(descriptor_.number(), text, static_cast<std::size_t>(size_))) {
    // When the cut fails as well, the first failure is the one to tell.
    static_cast<void>(::ftruncate(descriptor_.number(), size_) == 0);
    fail("write", path_, error);
  }
  size_ += static_cast<std::int64_t>(text.size());
}

// Where the file system has no locks, runs whose process is gone cannot be told from others.
void AppendFile::lock() noexcept {
  static_cast<void>(::flock(descriptor_.number(), LOCK_EX | LOCK_NB) == 0);
}

bool AppendFile::may_be_torn(std::string_view line) const {
  const std::size_t before = static_cast<std::size_t>(size_) % page_of_cache;
  return before + line.size() > page_of_cache;
}

void AppendFile::truncate(std::int64_t size) {
  if (::ftruncate(descriptor_.number(), size) != 0) fail("shorten", path_, errno);
  size_ = size;
}

Lock lock_of(const std::filesystem::path& path) noexcept {
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!descriptor) return errno == ENOENT ? Lock::free : Lock::unknown;
  if (::flock(descriptor.number(), LOCK_SH | LOCK_NB) == 0) return Lock::free;
  return errno == EWOULDBLOCK ? Lock::held : Lock::unknown;
}

std::string read_file(const std::filesystem::path& path, std::size_t most) {
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // no pipe is waited for
  if (!descriptor) fail("open", path, errno);
  struct stat status {};
  const bool known = ::fstat(descriptor.number(), &status) == 0;
  std::string text;
  int error = known && S_ISDIR(status.st_mode) ? EISDIR : 0;
  if (known && S_ISREG(status.st_mode) && std::cmp_less_equal(status.st_size, most)) {
    // One byte more than the file has, so that it ends in the first read. The system's own files have no size.
    text.resize(std::max(static_cast<std::size_t>(status.st_size), page_of_cache) + 1);
    std::size_t held = 0;
    for (ssize_t count = 1; count != 0 && error == 0 && held <= most;) {
      if (held == text.size()) text.resize(2 * held);
      count = ::read(descriptor.number(), text.data() + held, text.size() - held);
      if (count < 0) error = errno == EINTR ? 0 : errno;
      held += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    }
    text.resize(held);
  }
  if (error != 0) fail("read", path, error);
  if (!known || !S_ISREG(status.st_mode))
    throw Error(fmt::format("results: cannot read '{}': a device or pipe, which may never end", path.string()));
  const std::uint64_t size = std::max<std::uint64_t>(text.size(), static_cast<std::uint64_t>(status.st_size));
  if (size > most)
    throw Error(
        fmt::format("results: cannot read '{}': it has {} bytes; at most {} are read", path.string(), size, most));
  return text;
}

}  // namespace gpubench
