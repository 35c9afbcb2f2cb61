#include "core/codec/output_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/error.h"

namespace gpubench {

OutputFile::OutputFile(std::filesystem::path path)
    : path_(std::move(path)), partial_(fmt::format("{}.{}.{}.partial", path_.string(), ::getpid(), fmt::ptr(this))) {
  constexpr mode_t everyone = 0666;  // less the umask
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, everyone);
  if (descriptor_ >= 0) return;
  descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, everyone);
  if (descriptor_ < 0) fail();
  named_ = true;
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (named_) ::unlink(partial_.c_str());
}

void OutputFile::fail() const {
  throw Error(fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(errno)));
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void OutputFile::commit() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail();
  if (!named_) {
    const std::string unnamed = fmt::format("/proc/self/fd/{}", descriptor_);
    if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, partial_.c_str(), AT_SYMLINK_FOLLOW) != 0) fail();
    named_ = true;  // only for a moment: no link can take the place of an earlier file
  }
  if (::rename(partial_.c_str(), path_.c_str()) != 0) fail();
  ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace gpubench
