#include "core/base/resources.h"

#include <fmt/format.h>
#include <system_error>

#include "core/base/error.h"
#include "core/base/program.h"

namespace gpubench {

namespace {

/// A file, since build folders have folders of the same names as the sources.
constexpr std::string_view landmark = "lua/gpubench/init.lua";

std::filesystem::path search() {
  const std::filesystem::path& program = program_path();
  for (const std::filesystem::path& root : {find_resource_root(program), std::filesystem::path(GPUBENCH_SOURCE_DIR)}) {
    if (!root.empty() && std::filesystem::exists(root / landmark)) return root;
  }
  throw Error(fmt::format("resources: no folder above {} holds {} or share/gpubench/{}: the installation is incomplete",
                          program.string(), landmark, landmark));
}

}  // namespace

std::filesystem::path find_resource_root(const std::filesystem::path& program) {
  std::error_code ignored;
  for (std::filesystem::path folder = program.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    for (const std::filesystem::path& root : {folder / "share" / "gpubench", folder}) {
      if (std::filesystem::exists(root / landmark, ignored)) return root;
    }
  }
  return {};
}

const std::filesystem::path& resource_root() {
  static const std::filesystem::path root = search();
  return root;
}

std::filesystem::path resource(std::string_view path) {
  std::filesystem::path found = resource_root() / path;
  if (!std::filesystem::exists(found)) {
    throw Error(fmt::format("resources: {} has no {}: the installation is incomplete", resource_root().string(), path));
  }
  return found;
}

}  // namespace gpubench
