#include "core/watch/agent_counters.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/shown_text.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "GPBWATCH";
constexpr std::uint32_t known_version = 1;
/// What a header of version 1 has at least, and what would be no header any more.
constexpr std::uint32_t least_header = 1024, most_header = 1 << 20;
constexpr std::uint32_t least_step = 128, least_site = 512, most_record = 4096;
constexpr std::uint32_t most_step_records = 1 << 20, most_site_records = 1 << 16;
template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T value{};
  if (at + sizeof(T) <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

std::uint64_t u64_at(std::string_view bytes, std::size_t at) {
  return number_at<std::uint64_t>(bytes, at);
}

double seconds_at(std::string_view bytes, std::size_t at) {
  return 1e-9 * static_cast<double>(u64_at(bytes, at));
}

/// Up to its 0.
std::string text_at(std::string_view bytes, std::size_t at, std::size_t most) {
  const std::string_view field = bytes.substr(std::min(at, bytes.size()), most);
  return std::string(field.substr(0, field.find('\0')));
}

/// Sizes that the header tells, once they are believed.
struct Layout {
  std::uint64_t header, step_records, step_bytes, site_records, site_bytes;
  std::uint64_t sites_at() const { return header + step_records * step_bytes; }
};

Layout layout_of(std::string_view header) {
  if (header.size() < least_header) throw Error(fmt::format("{} bytes, too few for a header", header.size()));
  if (!header.starts_with(magic)) throw Error("not a file of counters: it does not begin with GPBWATCH");
  const auto field = [&](std::size_t at) { return number_at<std::uint32_t>(header, at); };
  if (field(8) != known_version)
    throw Error(fmt::format("version {}; this gpubench reads version {}", field(8), known_version));
  const auto check = [](std::string_view what, std::uint32_t value, std::uint32_t least, std::uint32_t most) {
    if (value < least || value > most)
      throw Error(fmt::format("{}: {}, which is not from {} to {}", what, value, least, most));
    return value;
  };
  return {.header = check("bytes of the header", field(12), least_header, most_header),
          .step_records = check("step records", field(16), 1, most_step_records),
          .step_bytes = check("bytes of a step record", field(20), least_step, most_record),
          .site_records = check("site records", field(24), 0, most_site_records),
          .site_bytes = check("bytes of a site record", field(28), least_site, most_record)};
}

void read_header(std::string_view header, AgentProcess& process) {
  process.parent = u64_at(header, 40);
  process.rank = number_at<std::int64_t>(header, 48);
  process.ranks = number_at<std::int64_t>(header, 56);
  process.local_rank = number_at<std::int64_t>(header, 64);
  process.loaded = monotonic_time(u64_at(header, 72));
  process.steps_in_all = u64_at(header, 88);
  const std::uint64_t window = u64_at(header, 104);
  process.window = window <= static_cast<std::uint64_t>(WindowState::not_asked_for) ? static_cast<WindowState>(window)
                                                                                    : WindowState::failed;
  process.window_begin = u64_at(header, 112);
  process.window_end = u64_at(header, 120);
  process.agent_s = seconds_at(header, 128);
  process.agent_in_window_s = seconds_at(header, 136);
  process.ended = monotonic_time(u64_at(header, 144));
  process.has_ended = u64_at(header, 144) != 0;
  process.batches = u64_at(header, 152);
  process.stack_samples = u64_at(header, 160);
  process.agent_faults = u64_at(header, 168);
  process.training_steps = u64_at(header, 176);
  process.keeps_batches = u64_at(header, 184) != 0;
  process.kept_batches_done = u64_at(header, 184) == 2;
  process.sites_since = u64_at(header, 192);
  process.step_mark = text_at(header, 512, 256);
  process.script = text_at(header, 768, 256);
}

AgentStep step_of(std::string_view record) {
  const auto field = [&](std::size_t index) { return u64_at(record, 8 * index); };
  constexpr std::array<std::size_t, job_step_parts.names.size()> places = {2, 3, 4, 5, 6, 7, 8, 10, 13};
  constexpr std::uint64_t kind_mask = 255, training = 1;
  const std::uint64_t kind = field(1);
  AgentStep step;
  step.end = monotonic_time(field(0));
  step.is_training = (kind & kind_mask) == training;
  step.in_window = (kind & 256) != 0;
  step.compiled = (kind & 512) != 0;
  step.first_of_epoch = (kind & 1024) != 0;
  step.saved = (kind & 2048) != 0;
  step.on_kept_batches = (kind & 4096) != 0;
  step.batches = field(9);
  for (std::size_t i = 0; i < places.size(); ++i) step.parts[i] = seconds_at(record, 8 * places[i]);
  step.main_thread_cpu_s = seconds_at(record, 8 * 11);
  step.involuntary_switches = field(12);
  return step;
}

AgentSite site_of(std::string_view record) {
  const auto kind = number_at<std::uint32_t>(record, 0);
  return {.kind = kind < site_kinds.names.size() ? static_cast<SiteKind>(kind) : SiteKind::unknown,
          .line = number_at<std::uint32_t>(record, 4),
          .times = u64_at(record, 8),
          .seconds = seconds_at(record, 16),
          .longest_s = seconds_at(record, 24),
          .last_step = u64_at(record, 32),
          .function = text_at(record, 64, 128),
          .file = text_at(record, 192, 320)};
}

/// Steps that end before the one before them, before the agent was loaded, or a year later were not written by it.
bool can_follow(const AgentStep& step, Clock::time_point before, Clock::time_point loaded) {
  constexpr std::chrono::hours longest_run{24 * 366};
  return step.end >= before && step.end - loaded <= longest_run;
}

/// The newest records that are whole. `count_now` says how many steps there are after they were read: the agent may
/// have written over the oldest meanwhile.
void read_steps(const AgentFile& file, const Layout& layout, const fs::path& path, AgentProcess& process,
                AgentFaults& faults) {
  const std::string ring = file.read(layout.header, layout.step_records * layout.step_bytes);
  const std::uint64_t in_file = ring.size() / layout.step_bytes;
  const std::uint64_t count_now = std::max(u64_at(file.read(0, least_header), 88), process.steps_in_all);
  const std::uint64_t count = process.steps_in_all;
  std::uint64_t first = count > layout.step_records ? count - layout.step_records : 0;
  // One record more: the agent may be writing the one behind its counter.
  if (count_now > count && count_now + 1 > layout.step_records)
    first = std::min(std::max(first, count_now + 1 - layout.step_records), count);
  std::uint64_t lost = 0;
  for (std::uint64_t i = first; i < count; ++i) {
    const std::uint64_t place = i % layout.step_records;
    if (place >= in_file) {
      lost += count - i;
      break;
    }
    const AgentStep step = step_of(std::string_view(ring).substr(place * layout.step_bytes, layout.step_bytes));
    if (!can_follow(step, process.steps.empty() ? process.loaded : process.steps.back().end, process.loaded)) {
      // Durations are differences of neighbours, so only an unbroken row is of use: the newest.
      lost += process.steps.size() + 1;
      process.steps.clear();
      continue;
    }
    if (process.steps.empty()) process.first_step = i;
    process.steps.push_back(step);
  }
  if (lost > 0)
    faults.add(path,
               fmt::format("{} of {} step records cannot be used: cut short, or out of order", lost, count - first));
}

void read_sites(const AgentFile& file, const Layout& layout, const fs::path& path, AgentProcess& process,
                AgentFaults& faults) {
  const std::uint64_t told = u64_at(file.read(0, least_header), 96);
  const std::uint64_t used = std::min(told, layout.site_records);
  const std::string records = file.read(layout.sites_at(), used * layout.site_bytes);
  const std::uint64_t in_file = records.size() / layout.site_bytes;
  for (std::uint64_t i = 0; i < in_file; ++i) {
    process.sites.push_back(site_of(std::string_view(records).substr(i * layout.site_bytes, layout.site_bytes)));
  }
  if (in_file < told) faults.add(path, fmt::format("{} of {} sites are there", in_file, told));
}

}  // namespace

AgentFile::AgentFile(const fs::path& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)) {
  struct stat about {};
  if (descriptor_ < 0) throw Error(std::strerror(errno));
  if (::fstat(descriptor_, &about) == 0 && S_ISREG(about.st_mode)) {
    bytes_ = static_cast<std::uint64_t>(about.st_size);
    return;
  }
  ::close(descriptor_);
  throw Error("not a regular file");
}

AgentFile::~AgentFile() {
  ::close(descriptor_);
}

std::string AgentFile::read(std::uint64_t offset, std::uint64_t count) const {
  if (offset >= bytes_) return {};
  std::string text(std::min(count, bytes_ - offset), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got =
        ::pread(descriptor_, text.data() + filled, text.size() - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

void AgentFaults::add(const fs::path& file, std::string_view what) {
  if (++count_ <= most_agent_faults)
    texts_.push_back(fmt::format("{}: {}", shown_text(file.filename().string()), what));
}

void AgentFaults::finish() {
  if (count_ > most_agent_faults) texts_.push_back(fmt::format("{} more faults", count_ - most_agent_faults));
}

void read_agent_counters(const fs::path& path, AgentDetail detail, AgentProcess& process, AgentFaults& faults) {
  try {
    const AgentFile file(path);
    const std::string header = file.read(0, least_header);
    const Layout layout = layout_of(header);
    if (u64_at(header, 32) != static_cast<std::uint64_t>(process.process))
      throw Error(fmt::format("it is of process {}", u64_at(header, 32)));
    read_header(header, process);
    process.has_counters = true;
    if (detail == AgentDetail::heads) return;
    read_steps(file, layout, path, process, faults);
    read_sites(file, layout, path, process, faults);
  } catch (const Error& error) {
    faults.add(path, error.what());
  }
}

}  // namespace gpubench
