#include "core/base/shared_library.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "core/base/error.h"

namespace gpubench {
namespace fs = std::filesystem;
namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// The parts of a variable such as PATH.
std::vector<fs::path> places_in(const char* variable) {
  const std::string listed = environment(variable);
  std::vector<fs::path> places;
  for (std::size_t begin = 0; begin < listed.size();) {
    const std::size_t end = std::min(listed.find(':', begin), listed.size());
    places.emplace_back(listed.substr(begin, end - begin));
    begin = end + 1;
  }
  return places;
}

/// The folders below `folder`, in a stable order; none where it cannot be read.
std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> result;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
    if (entry.is_directory(failed)) result.push_back(entry.path());
  }
  std::sort(result.begin(), result.end());
  return result;
}

void add_if_folder(std::vector<fs::path>& folders, const fs::path& folder) {
  std::error_code failed;
  if (!folder.empty() && fs::is_directory(folder, failed)) folders.push_back(folder);
}

void add_packages_of(std::vector<fs::path>& folders, const fs::path& prefix) {
  for (const fs::path& python : folders_in(prefix / "lib")) {
    if (!python.filename().string().starts_with("python3")) continue;
    add_if_folder(folders, python / "site-packages");
    add_if_folder(folders, python / "dist-packages");
  }
}

}  // namespace

SharedLibrary::SharedLibrary(std::span<const std::string_view> names, std::span<const fs::path> folders) {
  std::string reason;
  const auto open = [&](const std::string& name) {
    handle_.reset(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (handle_ != nullptr) name_ = name;
    if (handle_ == nullptr && reason.empty()) reason = ::dlerror();
    return handle_ != nullptr;
  };
  for (const std::string_view name : names) {
    if (open(std::string(name))) return;
  }
  std::error_code failed;
  for (const fs::path& folder : folders) {
    for (const std::string_view name : names) {
      // The error of a file that exists but cannot be opened is more useful than that of a missing one.
      if (!fs::exists(folder / name, failed)) continue;
      reason.clear();
      if (open((folder / name).string())) return;
    }
  }
  throw Error(fmt::format("{} cannot be opened: {}", names.front(), reason));
}

void SharedLibrary::Close::operator()(void* handle) const {
  ::dlclose(handle);
}

void SharedLibrary::keep_loaded() const {
  ::dlopen(name_.c_str(), RTLD_NOW | RTLD_NODELETE);
}

fs::path SharedLibrary::path() const {
  const link_map* map = nullptr;
  return ::dlinfo(handle_.get(), RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 ? fs::path(map->l_name)
                                                                                 : fs::path(name_);
}

void* SharedLibrary::look_up(const char* symbol) const {
  return ::dlsym(handle_.get(), symbol);
}

void* SharedLibrary::find(const char* symbol) const {
  void* const found = look_up(symbol);
  if (found == nullptr) throw Error(fmt::format("{} has no function {}: it is too old", name_, symbol));
  return found;
}

std::vector<fs::path> cuda_library_folders(std::span<const fs::path> python_paths) {
  std::vector<fs::path> folders;
  const auto add_toolkit = [&](const fs::path& home) {
    add_if_folder(folders, home / "lib64");
    add_if_folder(folders, home / "extras/CUPTI/lib64");
  };
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string home = environment(variable); !home.empty()) add_toolkit(home);
  }
  add_toolkit("/usr/local/cuda");
  for (const fs::path& packages : python_paths) {
    for (const fs::path& wheel : folders_in(packages / "nvidia")) add_if_folder(folders, wheel / "lib");
  }
  return folders;
}

std::vector<fs::path> python_package_folders() {
  std::vector<fs::path> folders;
  for (const fs::path& listed : places_in("PYTHONPATH")) add_if_folder(folders, listed);
  const fs::path chosen = environment("PYTHON");
  if (chosen.has_parent_path()) add_packages_of(folders, chosen.parent_path().parent_path());
  for (const char* const variable : {"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONUSERBASE"}) {
    if (const std::string prefix = environment(variable); !prefix.empty()) add_packages_of(folders, prefix);
  }
  // What "pip install --user" fills.
  if (const std::string home = environment("HOME"); !home.empty()) add_packages_of(folders, fs::path(home) / ".local");
  add_packages_of(folders, "/usr/local");
  add_packages_of(folders, "/usr");
  // The interpreters on the PATH may stand in a virtual environment that nothing names, or be shims of pyenv, which
  // start that of one of its versions.
  for (const fs::path& folder : places_in("PATH")) {
    std::error_code failed;
    const bool there =
        fs::exists(folder / "python3", failed) || (!chosen.empty() && fs::exists(folder / chosen, failed));
    if (there && folder.filename() == "bin") add_packages_of(folders, folder.parent_path());
    if (there && folder.filename() == "shims") {
      for (const fs::path& version : folders_in(folder.parent_path() / "versions")) add_packages_of(folders, version);
    }
  }
  std::vector<fs::path> unique;
  for (const fs::path& folder : folders) {
    if (std::find(unique.begin(), unique.end(), folder) == unique.end()) unique.push_back(folder);
  }
  return unique;
}

}  // namespace gpubench
