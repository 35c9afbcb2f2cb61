// Disk space that is kept free for a file that must be written even when the disk is full: an unnamed file holds it,
// and nothing of it is left when the process dies.
#pragma once
#include <cstdint>
#include <filesystem>

namespace gpubench {

class DiskReserve {
 public:
  /// Holds nothing yet. `folder`: where the space will be needed. Throws Error if no file can be made there.
  explicit DiskReserve(const std::filesystem::path& folder);
  DiskReserve(const DiskReserve&) = delete;
  DiskReserve& operator=(const DiskReserve&) = delete;
  ~DiskReserve();

  /// Holds at least `bytes`, or as much as the process may write into one file (ulimit -f). Returns 0, or the error
  /// number where the disk has less; then it holds what the disk has.
  int hold(std::int64_t bytes) noexcept;
  std::int64_t held() const { return held_; }
  /// Makes the space free for the next file that is written.
  void release() noexcept;

 private:
  const int descriptor_;
  std::int64_t held_ = 0;
};

}  // namespace gpubench
