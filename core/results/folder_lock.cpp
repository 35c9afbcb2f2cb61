#include "core/results/folder_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>

namespace gpubench {

FolderLock::FolderLock(const std::filesystem::path& folder, std::chrono::milliseconds longest)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  constexpr std::chrono::milliseconds pause{10};
  for (auto waited = pause; !own_; waited += pause) {
    own_ = ::flock(descriptor_.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (own_ || waited >= longest) return;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace gpubench
