// A folder with a suite of one script, and gpubench nightly and history there: real processes, which measure a figure
// that the test chooses.
#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/lua/host/folder.h"

namespace gpubench {

class Nights : public FolderTest {
 protected:
  void SetUp() override {
    write("steady.lua", R"(local gb = require "gpubench"
      local file <close> = assert(io.open "level")
      local level = file:read "n"
      gb.experiment { name = "steady", title = "t", axes = { gb.axis("device", { "cpu:0" }), gb.axis("n", { 1 }) },
        columns = { gb.column("figure_s", { unit = "s", better = "lower", kind = "counted" }) },
        run = function(point) return { device = point.device, figure_s = level } end,
        charts = { gb.chart.bar { x = "n", y = "figure_s" } } })");
    write("night.lua", R"(return { minutes = 5, scripts = { "steady" } })");
  }
  Ended nightly(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"nightly", "night.lua"});
    return run_program(options, path());
  }
  /// Ids of the processes in this folder with such a word in their command.
  std::vector<std::string> processes_here(const std::string& word) const {
    std::vector<std::string> ids;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::error_code gone;
      if (std::filesystem::read_symlink(entry.path() / "cwd", gone) != std::filesystem::canonical(path())) continue;
      if (contents(entry.path() / "cmdline").find(word) != std::string::npos)
        ids.push_back(entry.path().filename().string());
    }
    return ids;
  }
  static bool becomes(const std::function<bool()>& wanted) {
    for (int i = 0; i < 1000; ++i) {
      if (wanted()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  /// The first "#7f3k2qa9" of a text.
  static std::string id_in(const std::string& text) {
    const std::size_t at = text.find('#');
    return at == std::string::npos ? "none" : text.substr(at + 1, 8);
  }
  Ended history(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), "history");
    return run_program(options, path());
  }
  void level(double value) const { write("level", std::to_string(value)); }
  /// Ends with the status of the last night.
  Ended nights_at(double value, int count, const std::vector<std::string>& options = {}) const {
    Ended last;
    for (int i = 0; i < count; ++i) {
      level(value + 1e-6 * (i * 7 % 5));
      last = nightly(options);
      EXPECT_LE(last.status, 1) << last.err;
      if (last.status == 1) return last;
    }
    return last;
  }
};

}  // namespace gpubench
