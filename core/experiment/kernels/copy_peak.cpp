#include "core/experiment/kernels/copy_peak.h"

#include <algorithm>
#include <cstring>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/device/device.h"

namespace gpubench {
namespace {

/// Far larger than every cache of a processor core, and far more than a link's start-up cost; a GPU needs more to
/// exceed its cache (60 MB on an H200).
constexpr std::size_t link_bytes = std::size_t{64} << 20;
constexpr std::size_t gpu_bytes = std::size_t{512} << 20;
/// Copies queued in a row, so that waiting for the end costs little.
constexpr int copies_in_a_row = 4;
constexpr Seconds time_per_direction{0.03};

std::string key_of(const Device& device) {
  return to_string(device.id()) + " " + device.description();
}

double best_rate(Device& device, void* to, const void* from, std::size_t bytes) {
  if (const auto time = device.known_copy_time(to, from, bytes)) return static_cast<double>(bytes) / time->count();
  Stream& stream = device.stream();
  const std::unique_ptr<Event> begin = device.new_timed_event(), end = device.new_timed_event();
  Seconds fastest = Seconds::max();
  const Stopwatch watch;
  stream.copy(to, from, bytes);  // maps memory on its first use
  stream.synchronize();
  while (fastest == Seconds::max() || watch.elapsed() < time_per_direction) {
    stream.record(*begin);
    for (int copy = 0; copy < copies_in_a_row; ++copy) stream.copy(to, from, bytes);
    stream.record(*end);
    stream.synchronize();
    fastest = std::min(fastest, end->since(*begin));
    check_interrupt();
  }
  return static_cast<double>(bytes) * copies_in_a_row / fastest.count();
}

CopyRates measure(Device& device, std::size_t bytes) {
  MemoryPool* const host = device.host_memory();
  const Buffer here = device.memory().allocate(bytes, "copy peak");
  CopyRates rates;
  {
    const Buffer there = device.memory().allocate(bytes, "copy peak");
    rates.on_device = 2 * best_rate(device, there.data(), here.data(), bytes);
  }
  if (host == nullptr) return rates;
  const Buffer outside = host->allocate(link_bytes, "copy peak");
  if (device.emulation().empty()) std::memset(outside.data(), 1, link_bytes);
  rates.to_device = best_rate(device, here.data(), outside.data(), link_bytes);
  rates.from_device = best_rate(device, outside.data(), here.data(), link_bytes);
  return rates;
}

}  // namespace

std::optional<CopyRates> best_copy_rates(Device& device) {
  std::optional<CopyRates> rates;
  device.bind_to_thread();
  // With less memory, try smaller blocks, down to the size of link copies.
  for (std::size_t bytes = device.shares_host_memory() ? link_bytes : gpu_bytes; !rates && bytes >= link_bytes;) {
    try {
      rates = measure(device, bytes);
    } catch (const OutOfMemory&) {
      bytes /= 2;
    }
  }
  // Memory of the measurement must not count for the point.
  device.memory().trim();
  if (MemoryPool* const host = device.host_memory()) host->trim();
  return rates;
}

std::optional<CopyRates> CopyPeak::known_rates(const Device& device) const {
  const auto known = known_.find(key_of(device));
  return known == known_.end() ? std::nullopt : std::optional(known->second);
}

std::optional<CopyRates> CopyPeak::rates(Device& device) {
  // The rates of an emulated device cost no time, and a script may change them.
  const bool measures = device.emulation().empty();
  if (const std::optional<CopyRates> known = known_rates(device); known && measures) return known;
  const std::optional<CopyRates> rates = best_copy_rates(device);
  if (rates) known_[key_of(device)] = *rates;
  return rates;
}

}  // namespace gpubench
