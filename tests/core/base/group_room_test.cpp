// What is given of a control group's memory, by the files of a root of the test's own.
#include "core/base/group_room.h"

#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <sys/mman.h>

#include "tests/support/files.h"

namespace gpubench {
namespace {

constexpr std::size_t mebibyte = 1 << 20;

class GroupRooms : public TemporaryFolder {
 protected:
  GroupRooms() {
    write_at("proc/self/cgroup", "0::/job\n");
    write_at("sys/fs/cgroup/job/memory.max", std::to_string(320 * mebibyte));
    set_used(100 * mebibyte);
  }
  void write_at(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(file(name).parent_path());
    write(name, text);
  }
  void set_used(std::size_t bytes) const { write_at("sys/fs/cgroup/job/memory.current", std::to_string(bytes)); }

  /// 320 MiB less 100 that are used, and less 20 for others.
  GroupRoom room_{file("")};
};

TEST_F(GroupRooms, GiveWhatTheGroupHas) {
  EXPECT_FALSE(room_.give(201 * mebibyte));
  EXPECT_TRUE(room_.give(200 * mebibyte));
  set_used(300 * mebibyte);
  EXPECT_FALSE(room_.give(mebibyte));
  EXPECT_EQ(room_.text(), "the control group leaves 20 MiB of 320 MiB (memory.max)");
  set_used(100 * mebibyte);
  EXPECT_TRUE(room_.give(200 * mebibyte));
}

TEST_F(GroupRooms, PagesOfFilesAreTakenBack) {
  write_at("sys/fs/cgroup/job/memory.stat", "anon 1\nfile 9999\nactive_file 41943040\ninactive_file 10485760\n");
  EXPECT_TRUE(room_.give(250 * mebibyte));
  EXPECT_FALSE(room_.give(251 * mebibyte));
}

TEST_F(GroupRooms, SmallPiecesAddUp) {
  constexpr std::size_t piece = 256 << 10, fit = 200 * mebibyte / piece;
  std::size_t given = 0;
  for (; given < 2 * fit && room_.give(piece); ++given) set_used(100 * mebibyte + given * piece);
  EXPECT_LE(given, fit + 1) << "the last one is not among the used";
  EXPECT_GT(given, fit / 2);
}

TEST_F(GroupRooms, BlocksCountBeforeTheyAreTouched) {
  constexpr std::size_t bytes = 150 * mebibyte;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const block = static_cast<std::byte*>(memory);
  ASSERT_TRUE(room_.give(bytes));
  room_.add(block, bytes);
  EXPECT_FALSE(room_.give(51 * mebibyte)) << "the files do not show what was given";
  EXPECT_TRUE(room_.give(50 * mebibyte));
  std::memset(block, 1, bytes);
  EXPECT_TRUE(room_.give(200 * mebibyte)) << "they show it now; the test's do not";
  room_.remove(block);
  ::munmap(memory, bytes);
}

TEST_F(GroupRooms, WithoutALimitAllIsGiven) {
  write_at("sys/fs/cgroup/job/memory.max", "max\n");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(room_.give(std::size_t{1} << 50));
  EXPECT_EQ(room_.text(), "");
}

}  // namespace
}  // namespace gpubench
