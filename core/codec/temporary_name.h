// Names of files and folders that are made beside the place that they will take: ".NAME.N.tmp". The program that makes
// one holds a lock (flock) on it. What a killed program left has no lock: the next program that needs the name removes
// it.
#pragma once
#include <filesystem>
#include <functional>
#include <string_view>

namespace gpubench {

inline constexpr std::string_view new_ending = ".tmp", moved_ending = ".old";

/// A file number that is closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }
  /// Whether the path names this file or folder, and not a link to it.
  bool is_at(const std::filesystem::path& path) const noexcept;
  /// Waits until no other program has the lock. Without effect where the file system has no locks.
  void lock() const noexcept;

 private:
  int number_;
};

/// Calls `make` with one name after the other until it returns true, and returns that name. `make` returns false with
/// errno; where that is EEXIST, the next name is tried. Throws Error, naming `target`, for other failures.
std::filesystem::path take_temporary_name(const std::filesystem::path& target,
                                          const std::function<bool(const std::filesystem::path&)>& make);

/// Whether it is the name of a file or folder that is being made, or removed: readers of the folder leave it out.
bool is_temporary(std::string_view name);

/// Removes a file or folder that is no longer needed, with all that is in it; links in it are not followed. Waits for
/// another program that removes it.
void discard(const std::filesystem::path& path);

/// Removes what killed programs left in a folder.
void remove_left_overs(const std::filesystem::path& folder);

/// Throws Error if something is at the path that is not of this type: a link is not followed, and a device not
/// replaced.
void refuse_other_than(std::filesystem::file_type type, const std::filesystem::path& path);

/// "NAME: cannot be written: REASON".
[[noreturn]] void fail_to_write(const std::filesystem::path& path, int error);

}  // namespace gpubench
