// Files as the agent writes them (agent/README.md), with steps, sites and facts of a test's choice.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace gpubench {

struct WrittenStep {
  std::uint64_t end_ms = 0;
  std::uint64_t kind = 1;
  /// Milliseconds by index of the record's field.
  std::map<int, double> parts = {};
  std::uint64_t batches = 1;
};

struct WrittenSite {
  std::uint32_t kind = 1, line = 1;
  std::uint64_t times = 1;
  double milliseconds = 1;
  std::string function = "step", file = "train.py";
};

class AgentWriter {
 public:
  int process = 100;
  std::uint64_t started = 7;
  std::uint32_t step_records = 64, site_records = 4;
  std::vector<WrittenStep> steps;
  std::vector<WrittenSite> sites;
  /// Numbers of the header by offset; what is not given follows from the steps and sites.
  std::map<std::size_t, std::uint64_t> header;
  std::string facts;

  std::string stem() const { return std::to_string(process) + "-" + std::to_string(started); }

  std::string counters() const {
    constexpr std::size_t header_bytes = 4096, step_bytes = 128, site_bytes = 512;
    std::string bytes(header_bytes + step_records * step_bytes + site_records * site_bytes, '\0');
    bytes.replace(0, 8, "GPBWATCH");
    const std::array<std::uint32_t, 6> layout = {1, header_bytes, step_records, step_bytes, site_records, site_bytes};
    std::memcpy(&bytes[8], layout.data(), sizeof layout);
    std::uint64_t training = 0;
    for (const WrittenStep& step : steps) training += step.kind % 256 == 1 ? 1 : 0;
    std::map<std::size_t, std::uint64_t> numbers = {
        {32, process},      {40, 1},  {48, ~0ULL},    {56, ~0ULL}, {64, ~0ULL}, {72, 1}, {88, steps.size()},
        {96, sites.size()}, {104, 4}, {176, training}};
    for (const auto& [offset, value] : header) numbers[offset] = value;
    for (const auto& [offset, value] : numbers) put(bytes, offset, value);
    bytes.replace(512, 19, "torch optimizer SGD");
    bytes.replace(768, 8, "train.py");
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::size_t at = header_bytes + i % step_records * step_bytes;
      put(bytes, at, steps[i].end_ms * 1'000'000);
      put(bytes, at + 8, steps[i].kind);
      for (int field = 2; field < 16; ++field) put(bytes, at + 8 * static_cast<std::size_t>(field), 0);
      for (const auto& [field, milliseconds] : steps[i].parts)
        put(bytes, at + 8 * static_cast<std::size_t>(field), nanoseconds(milliseconds));
      put(bytes, at + 72, steps[i].batches);
    }
    for (std::size_t i = 0; i < sites.size() && i < site_records; ++i) {
      const std::size_t at = header_bytes + step_records * step_bytes + i * site_bytes;
      put(bytes, at, sites[i].kind | std::uint64_t{sites[i].line} << 32);
      put(bytes, at + 8, sites[i].times);
      put(bytes, at + 16, nanoseconds(sites[i].milliseconds));
      put(bytes, at + 24, nanoseconds(sites[i].milliseconds));
      bytes.replace(at + 64, sites[i].function.size(), sites[i].function);
      bytes.replace(at + 192, sites[i].file.size(), sites[i].file);
    }
    return bytes;
  }

  void write(const std::filesystem::path& folder) const { write(folder, counters()); }
  void write(const std::filesystem::path& folder, const std::string& counters) const {
    // A file that is cut and written again is flushed to the disk by some file systems, which takes milliseconds.
    std::filesystem::remove(folder / (stem() + ".counters"));
    std::filesystem::remove(folder / (stem() + ".facts"));
    std::ofstream(folder / (stem() + ".counters"), std::ios::binary) << counters;
    if (!facts.empty()) std::ofstream(folder / (stem() + ".facts"), std::ios::binary) << facts;
  }

  static void put(std::string& bytes, std::size_t at, std::uint64_t value) {
    std::memcpy(&bytes.at(at), &value, sizeof value);
  }

 private:
  static std::uint64_t nanoseconds(double milliseconds) { return static_cast<std::uint64_t>(milliseconds * 1e6 + 0.5); }
};

}  // namespace gpubench
