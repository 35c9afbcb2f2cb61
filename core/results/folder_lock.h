// A lock that programs hold while they read what is in a folder and write something that depends on it there, so that
// none of them writes over what another one has added meanwhile.
#pragma once
#include <chrono>
#include <filesystem>

#include "core/codec/temporary_name.h"

namespace gpubench {

class FolderLock {
 public:
  /// Waits for other programs, for `longest` at most. Where the file system has no locks, there is none.
  FolderLock(const std::filesystem::path& folder, std::chrono::milliseconds longest);
  /// False if another program has the lock still.
  bool is_own() const { return own_; }

 private:
  Descriptor descriptor_;
  bool own_ = false;
};

}  // namespace gpubench
