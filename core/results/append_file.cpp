#include "core/results/append_file.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <system_error>
#include <unistd.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr mode_t file_mode = 0644;

[[noreturn]] void fail(std::string_view action, const std::filesystem::path& path, int error) {
  throw Error(
      fmt::format("results: cannot {} '{}': {}", action, path.string(), std::generic_category().message(error)));
}

int open_file(const std::filesystem::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CREAT | O_WRONLY | O_CLOEXEC, file_mode);
  if (descriptor < 0) fail("open", path, errno);
  return descriptor;
}

// Returns 0, or the error number of the failed call.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
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
    : path_(std::move(path)), descriptor_(open_file(path_, O_APPEND)), size_(::lseek(descriptor_, 0, SEEK_END)) {}

AppendFile::~AppendFile() {
  ::close(descriptor_);
}

void AppendFile::append(std::string_view text) {
  if (const int error = write_all(descriptor_, text)) {
    // When the cut fails as well, the first failure is the one to tell.
    static_cast<void>(::ftruncate(descriptor_, size_) == 0);
    fail("write", path_, error);
  }
  size_ += static_cast<std::int64_t>(text.size());
}

void AppendFile::truncate(std::int64_t size) {
  if (::ftruncate(descriptor_, size) != 0) fail("shorten", path_, errno);
  size_ = size;
}

void replace_file(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::path next = path;
  next += ".new";
  const int descriptor = open_file(next, O_TRUNC);
  const int error = write_all(descriptor, text);
  ::close(descriptor);
  if (error != 0) {
    ::unlink(next.c_str());
    fail("write", path, error);
  }
  if (::rename(next.c_str(), path.c_str()) != 0) {
    const int rename_error = errno;
    ::unlink(next.c_str());
    fail("replace", path, rename_error);
  }
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("open", path, errno);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (file.bad()) fail("read", path, errno);
  return text;
}

}  // namespace gpubench
