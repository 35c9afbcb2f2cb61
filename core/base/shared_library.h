// A library that is opened while the program runs, because a machine may lack it: drivers and the vendors' libraries.
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
  /// Opens the first of `names` that can be opened: each by itself, as the loader finds it, then in each of `folders`.
  /// Throws Error naming the first and the loader's reason.
  SharedLibrary(std::span<const std::string_view> names, std::span<const std::filesystem::path> folders);

  /// Points `function` to the symbol; throws Error when the library has none of that name.
  template <class Function>
  void bind(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(find(symbol));
  }
  /// As bind, with nullptr where the library (an older one) has no such symbol.
  template <class Function>
  void bind_if_there(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(look_up(symbol));
  }
  /// What was opened: "libnvidia-ml.so.1", or a path.
  const std::string& name() const { return name_; }

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  void* find(const char* symbol) const;
  void* look_up(const char* symbol) const;

  std::string name_;
  std::unique_ptr<void, Close> handle_;
};

/// Where NVIDIA's libraries may lie beside the loader's own path: $CUDA_HOME/lib64, /usr/local/cuda/lib64, and the
/// `lib` folders of the Python wheels `nvidia-*` below each folder of `python_paths`.
std::vector<std::filesystem::path> cuda_library_folders(std::span<const std::filesystem::path> python_paths);

/// The `site-packages` folders that $VIRTUAL_ENV, $PYTHONPATH and the system's Python name.
std::vector<std::filesystem::path> python_package_folders();

}  // namespace gpubench
