// A test with a folder of its own that it runs scripts in.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "tests/lua/host/program.h"
#include "tests/support/files.h"

namespace gpubench {

class FolderTest : public TemporaryFolder {
 protected:
  std::string path() const { return file("x").parent_path().string(); }
  std::string read(const std::filesystem::path& name) const { return contents(file(name.string())); }
  /// Writes the script and runs it from inside the folder.
  Ended run(const std::string& script, std::vector<std::string> options = {}) const {
    write("script.lua", script);
    options.insert(options.begin(), "script.lua");
    return run_program(options, path());
  }
  /// The only file of that name below the folder.
  std::filesystem::path find(const std::string& name) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path()))
      if (entry.path().filename() == name) return entry.path();
    return {};
  }
};

}  // namespace gpubench
