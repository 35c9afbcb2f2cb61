#include "core/nvidia/gpu_fault.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace gpubench {
namespace {

namespace fs = std::filesystem;

constexpr const char* container_remedy =
    "start the container with its GPUs: docker run --gpus all (NVIDIA Container Toolkit)";

bool is_there(const fs::path& path) {
  std::error_code hidden;
  return fs::exists(path, hidden);
}

/// dev/nvidia0, dev/nvidia1, ...: one for each GPU.
std::vector<fs::path> gpu_nodes(const fs::path& root) {
  std::vector<fs::path> nodes;
  std::error_code unreadable;
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "dev", unreadable)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view prefix = "nvidia";
    const bool numbered =
        name.size() > prefix.size() && name.starts_with(prefix) &&
        std::all_of(name.begin() + prefix.size(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (numbered) nodes.push_back(entry.path());
  }
  std::ranges::sort(nodes);
  return nodes;
}

std::string group_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return "?";
  const struct group* const found = ::getgrgid(status.st_gid);
  return found != nullptr ? found->gr_name : std::to_string(status.st_gid);
}

std::optional<DeviceFault> refusal(const fs::path& root, const fs::path& node) {
  // Opened, not only looked at: a container's device rules refuse what the file's mode permits.
  const int opened = ::open(node.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  const int error = errno;
  if (opened >= 0) {
    ::close(opened);
    return std::nullopt;
  }
  const std::string shown = "/" + node.lexically_relative(root).string();
  const std::string group = group_of(node);
  return DeviceFault{
      fmt::format("{} may not be opened by this user ({}; it belongs to group {})", shown, std::strerror(error), group),
      fmt::format("add the user to group {}, or give the container or job access to {}", group, shown)};
}

DeviceFault no_node(const fs::path& root, std::string_view node) {
  if (in_container(root)) {
    return {fmt::format("this container has no {}: it was started without the NVIDIA runtime", node), container_remedy};
  }
  return {fmt::format("the device node {} is missing", node), "create the nodes: nvidia-modprobe -c 0 -u, as root"};
}

}  // namespace

std::string cuda_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::optional<DeviceFault> old_driver(int driver, int needed) {
  if (driver == 0 || driver / 1000 >= needed / 1000) return std::nullopt;
  const int major = needed / 1000;
  return DeviceFault{
      fmt::format("the NVIDIA driver is for CUDA {}, this program needs one for CUDA {}", cuda_text(driver),
                  cuda_text(needed)),
      fmt::format("install an NVIDIA driver for CUDA {} or later (nvidia-smi shows its CUDA version)", major)};
}

bool in_container(const fs::path& root) {
  return is_there(root / ".dockerenv") || is_there(root / "run/.containerenv") || is_there(root / ".singularity.d");
}

std::optional<DeviceFault> hidden_gpus(const std::optional<std::string>& visible) {
  constexpr const char* remedy = "unset CUDA_VISIBLE_DEVICES, or name GPUs in it: CUDA_VISIBLE_DEVICES=0";
  if (!visible) return std::nullopt;
  if (visible->empty()) return DeviceFault{"CUDA_VISIBLE_DEVICES is empty, which hides every GPU", remedy};
  if (visible->starts_with("-") || *visible == "NoDevFiles") {
    return DeviceFault{fmt::format("CUDA_VISIBLE_DEVICES={} hides every GPU", *visible), remedy};
  }
  return std::nullopt;
}

std::optional<DeviceFault> driver_fault(const fs::path& root) {
  if (!is_there(root / "proc/driver/nvidia/version")) {
    return DeviceFault{"no NVIDIA driver is loaded (/proc/driver/nvidia/version is missing)",
                       "install NVIDIA's driver, and load it: modprobe nvidia"};
  }
  return node_fault(root);
}

std::optional<DeviceFault> node_fault(const fs::path& root) {
  const fs::path control = root / "dev/nvidiactl";
  if (!is_there(control)) return no_node(root, "/dev/nvidiactl");
  if (auto refused = refusal(root, control)) return refused;
  const std::vector<fs::path> nodes = gpu_nodes(root);
  if (nodes.empty()) return no_node(root, "/dev/nvidia0");
  for (const fs::path& node : nodes) {
    if (auto refused = refusal(root, node)) return refused;
  }
  return std::nullopt;
}

}  // namespace gpubench
