#include "core/base/program.h"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <system_error>

namespace gpubench {

namespace {

std::filesystem::path mapped_file() {
  const auto here = reinterpret_cast<std::uintptr_t>(&mapped_file);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {  // FIRST-BEHIND RIGHTS OFFSET DEVICE INODE FILE
    std::uintptr_t first = 0, behind = 0;
    int file = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %n", &first, &behind, &file) == 2 &&
        here >= first && here < behind && file > 0) {
      return line.substr(static_cast<std::size_t>(file));
    }
  }
  return std::filesystem::read_symlink("/proc/self/exe");
}

const std::filesystem::path& own_file() {
  static const std::filesystem::path file = mapped_file();
  return file;
}

/// What starts the programs of a bundle lies beside them (cmake/bundle/start.in).
std::filesystem::path start_of(const std::filesystem::path& program) {
  return program.parent_path() / "start";
}

bool is_there(const std::filesystem::path& file) {
  std::error_code hidden;
  return std::filesystem::is_regular_file(file, hidden);
}

}  // namespace

std::filesystem::path find_launcher(const std::filesystem::path& program) {
  const std::filesystem::path launcher = program.parent_path().parent_path() / "bin" / program.filename();
  return is_there(start_of(program)) && is_there(launcher) ? launcher : program;
}

const std::filesystem::path& program_path() {
  static const std::filesystem::path path = find_launcher(own_file());
  return path;
}

std::vector<std::string> carried_program(std::string_view name) {
  const std::filesystem::path start = start_of(own_file());
  if (!is_there(start) || !is_there(own_file().parent_path() / name)) return {};
  return {start.string(), std::string(name)};
}

}  // namespace gpubench
