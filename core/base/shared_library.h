// A library opened at run time, because a machine may lack it: drivers and vendors' libraries.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpubench {

class SharedLibrary {
 public:
  /// Opens the first of `names` that can be opened: each name first through the loader's search path, then in each of
  /// `folders`. Throws Error naming the first name and the loader's reason.
  SharedLibrary(std::span<const std::string_view> names, std::span<const std::filesystem::path> folders);

  /// Points `function` to the symbol; throws Error if the library lacks it.
  template <class Function>
  void bind(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(find(symbol));
  }
  /// As bind(), but sets nullptr if the library (an older version) lacks the symbol.
  template <class Function>
  void bind_if_there(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(look_up(symbol));
  }
  /// The name or path that was opened: "libnvidia-ml.so.1".
  const std::string& name() const { return name_; }
  /// The file that the loader took.
  std::filesystem::path path() const;
  /// Nothing unloads it any more, until the process ends.
  void keep_loaded() const;

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  void* find(const char* symbol) const;
  void* look_up(const char* symbol) const;

  std::string name_;
  std::unique_ptr<void, Close> handle_;
};

/// Folders that may hold NVIDIA's libraries, besides the loader's path: `lib64` and `extras/CUPTI/lib64` of $CUDA_HOME,
/// $CUDA_PATH and /usr/local/cuda, and the `lib` folders of the Python wheels `nvidia-*` below each of `python_paths`.
std::vector<std::filesystem::path> cuda_library_folders(std::span<const std::filesystem::path> python_paths);

/// The `site-packages` folders of $PYTHONPATH, of the interpreter $PYTHON, of $VIRTUAL_ENV and $CONDA_PREFIX, of the
/// user (`pip install --user`), of the system's Python, and of the interpreters on the PATH with all versions of pyenv.
std::vector<std::filesystem::path> python_package_folders();

}  // namespace gpubench
