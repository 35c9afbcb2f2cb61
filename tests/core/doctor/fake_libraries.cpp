// NVIDIA's libraries, as far as their versions go; all in one file.
#include <cstddef>
#include <cstdlib>

namespace {

std::size_t number(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : static_cast<std::size_t>(std::atoi(text));
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the libraries' names
extern "C" {
std::size_t cublasLtGetVersion() {
  return number("FAKE_CUBLASLT_VERSION");
}
std::size_t cublasLtGetCudartVersion() {
  return number("FAKE_BUILT_FOR_CUDA");
}
std::size_t cudnnGetVersion() {
  return number("FAKE_CUDNN_VERSION");
}
std::size_t cudnnGetCudartVersion() {
  return number("FAKE_BUILT_FOR_CUDA");
}
int cudnnGraphVersionCheck() {
  return 0;
}
int cudnnOpsVersionCheck() {
  return static_cast<int>(number("FAKE_CUDNN_PARTS_STATUS"));
}
int ncclGetVersion(int* version) {
  *version = static_cast<int>(number("FAKE_NCCL_VERSION"));
  return *version == 0 ? 1 : 0;
}
}
// NOLINTEND(readability-identifier-naming)
