#include "core/doctor/machine.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

#include "core/base/error.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view blanks = " \t\r\n";
/// A list of processors with more than these is no list.
constexpr int most_processors = 1 << 16;

FileText unreadable(const std::string& name, int error) {
  return {.text = {}, .error = fmt::format("/{} cannot be read: {}", name, std::strerror(error))};
}

std::optional<int> leading_int(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

CheckResult result(CheckState state, std::string found, std::string consequence, std::string remedy) {
  return {.name = {},
          .device = {},
          .state = state,
          .found = std::move(found),
          .consequence = std::move(consequence),
          .remedy = std::move(remedy)};
}

}  // namespace

Machine::Machine(const MachineSources& sources) : sources_(sources), nvml_(sources.open_nvml()) {
  for (const CheckedGpu& gpu : sources.gpus) {
    MachineGpu& one = gpus_.emplace_back(MachineGpu{.gpu = gpu, .sensors = {}, .reason = nvml_.reason});
    if (!nvml_.nvml) continue;
    try {
      one.sensors.emplace(nvml_.nvml, gpu.bus_id);
    } catch (const Error& error) {
      one.reason = error.what();
    }
  }
}

// The first two digits of a PCI class are its kind: 0x03 is a display or 3D controller.
int Machine::nvidia_cards() const {
  constexpr std::string_view nvidia = "0x10de", display = "0x03";
  int count = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(sources_.root / "sys/bus/pci/devices", error)) {
    const std::string folder = entry.path().lexically_relative(sources_.root).string();
    if (trimmed(read(folder + "/vendor").text) == nvidia && read(folder + "/class").text.starts_with(display)) ++count;
  }
  return count;
}

FileText Machine::read(const std::string& name) const {
  const int file = ::open((sources_.root / name).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return unreadable(name, errno);
  constexpr std::size_t most_bytes = 1 << 20;
  FileText result;
  std::array<char, 4096> buffer{};
  ssize_t count = 0;
  while (result.text.size() < most_bytes) {
    count = ::read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    result.text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  if (count < 0) result = unreadable(name, errno);
  ::close(file);
  return result;
}

bool Machine::has(const std::string& name) const {
  std::error_code hidden;
  return fs::exists(sources_.root / name, hidden);
}

std::optional<std::string> Machine::variable(const std::string& name) const {
  return sources_.environment ? sources_.environment(name) : std::nullopt;
}

std::vector<int> parse_processors(std::string_view text) {
  const std::string copy = trimmed(text);
  std::string_view rest = copy;
  std::vector<int> processors;
  while (!rest.empty()) {
    const auto first = leading_int(rest);
    if (!first) return {};
    int last = *first;
    if (rest.starts_with('-')) {
      rest.remove_prefix(1);
      const auto end = leading_int(rest);
      if (!end || *end < *first) return {};
      last = *end;
    }
    if (last >= most_processors) return {};
    for (int processor = *first; processor <= last; ++processor) processors.push_back(processor);
    if (!rest.empty() && !rest.starts_with(',')) return {};
    if (!rest.empty()) rest.remove_prefix(1);
  }
  return processors;
}

std::string processors_text(const std::vector<int>& processors) {
  std::string text;
  for (std::size_t i = 0; i < processors.size();) {
    std::size_t end = i + 1;
    while (end < processors.size() && processors[end] == processors[end - 1] + 1) ++end;
    text += text.empty() ? "" : ",";
    text += std::to_string(processors[i]);
    if (end - i > 1) text += "-" + std::to_string(processors[end - 1]);
    i = end;
  }
  return text;
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

CheckResult ok(std::string found) {
  return result(CheckState::ok, std::move(found), {}, {});
}
CheckResult costs_speed(std::string found, std::string consequence, std::string remedy) {
  return result(CheckState::costs_speed, std::move(found), std::move(consequence), std::move(remedy));
}
CheckResult wrong(std::string found, std::string consequence, std::string remedy) {
  return result(CheckState::wrong, std::move(found), std::move(consequence), std::move(remedy));
}
CheckResult unknown(std::string reason) {
  return result(CheckState::unknown, std::move(reason), {}, {});
}

}  // namespace gpubench
