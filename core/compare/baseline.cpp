#include "core/compare/baseline.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "core/codec/output_folder.h"
#include "core/results/append_file.h"
#include "core/results/run_directory.h"

namespace gpubench {
namespace {

std::filesystem::path baselines_root(const std::filesystem::path& out) {
  return out / "baselines";
}

bool may_name_baseline(const std::string& name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.'; };
  if (name == "last") return false;  // the newest run
  return !name.empty() && name.front() != '.' && name.front() != '-' && std::ranges::all_of(name, fits);
}

}  // namespace

std::filesystem::path baseline_folder(const std::string& name, const std::filesystem::path& out) {
  return may_name_baseline(name) ? baselines_root(out) / name : std::filesystem::path();
}

bool is_baseline(const std::filesystem::path& folder) {
  std::error_code error;
  if (folder.empty()) return false;
  if (!std::filesystem::is_directory(folder, error)) settle_folder(folder);
  return std::filesystem::is_directory(folder, error);
}

std::vector<std::string> baseline_names(const std::filesystem::path& out) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(baselines_root(out), error)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory(error) && may_name_baseline(name)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::filesystem::path save_baseline(const std::string& name, std::span<const std::filesystem::path> runs,
                                    const std::filesystem::path& out) {
  namespace fs = std::filesystem;
  const fs::path folder = baseline_folder(name, out);
  if (folder.empty())
    throw Error(
        fmt::format("baseline: '{}' cannot name a baseline: letters, digits, '_', '-' and '.', not '.' or '-' first, "
                    "and not 'last'",
                    name));
  if (runs.empty()) throw Error("baseline: there are no runs to save");
  refuse_links(out, "baselines", "baseline");
  try {
    fs::create_directories(folder.parent_path());
    OutputFolder baseline(folder);
    for (const fs::path& run : runs) {
      const fs::path own = fs::canonical(run);
      const fs::path target = baseline.place() / own.parent_path().filename() / own.filename();
      fs::create_directories(target);
      for (const char* file : {"run.json", "results.csv", "script.lua"})
        if (fs::exists(own / file)) replace_file(target / file, read_file(own / file));
    }
    baseline.commit();
  } catch (const fs::filesystem_error& error) {
    throw Error(
        fmt::format("baseline: '{}' cannot be saved: '{}': {}", name, error.path1().string(), error.code().message()));
  } catch (const Error& error) {
    throw Error(fmt::format("baseline: '{}' cannot be saved: {}", name, error.what()));
  }
  return folder;
}

}  // namespace gpubench
