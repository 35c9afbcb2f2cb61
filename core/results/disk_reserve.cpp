#include "core/results/disk_reserve.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::int64_t page_bytes = 4096;

int open_unnamed(const std::filesystem::path& folder) {
  int descriptor = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor >= 0) return descriptor;
  std::string name = (folder / "reserve.XXXXXX").string();
  descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) {
    throw Error(fmt::format("results: cannot make a file in '{}': {}", folder.string(),
                            std::generic_category().message(errno)));
  }
  ::unlink(name.c_str());
  return descriptor;
}

// The largest file of this process; allocating more would raise SIGXFSZ.
std::int64_t largest_file() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur > static_cast<rlim_t>(INT64_MAX)) return INT64_MAX;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

int allocate(int descriptor, std::int64_t bytes) {
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(descriptor, 0, bytes);
  return error;
}

}  // namespace

DiskReserve::DiskReserve(const std::filesystem::path& folder) : descriptor_(open_unnamed(folder)) {}

DiskReserve::~DiskReserve() {
  ::close(descriptor_);
}

int DiskReserve::hold(std::int64_t bytes) noexcept {
  const std::int64_t wanted = std::min(bytes, largest_file());
  int error = 0;
  for (std::int64_t size = wanted; size > held_; size -= page_bytes) {
    const int failed = allocate(descriptor_, size);
    if (failed == 0) {
      held_ = size;
    } else if (error == 0) {
      error = failed;
    }
  }
  return error;
}

void DiskReserve::release() noexcept {
  static_cast<void>(::ftruncate(descriptor_, 0) == 0);
  held_ = 0;
}

}  // namespace gpubench
