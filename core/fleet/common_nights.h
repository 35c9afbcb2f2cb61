// Nights of many hosts, each with a clock and a schedule of its own, as nights of the fleet: what hosts measured in the
// same night is compared.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpubench {

struct HostNight {
  std::size_t host = 0;
  std::int64_t started = 0;  ///< seconds since 1970, by the host's clock
};

struct CommonNights {
  /// Seconds between nights of one host, in the median (the lower one: nights may be left out); a day where no host has
  /// two.
  std::int64_t interval = 0;
  /// When the first host began each of them; the latest last. Nights in which nobody measured are none.
  std::vector<std::int64_t> started = {};
  /// Of each host's night its place in `started`; none where the host's clock is wrong.
  std::vector<std::optional<std::size_t>> night = {};
  /// Hosts whose latest night is more than two nights after that of any other host.
  std::vector<std::size_t> ahead = {};
};

/// Where a night of the fleet ends lies in the longest pause of the schedule: hosts may begin hours apart.
CommonNights common_nights(const std::vector<HostNight>& nights);

/// "2026-03-01T02:00:00Z", as runs have it; nothing for another text.
std::optional<std::int64_t> seconds_of(std::string_view started);
/// "2026-03-01".
std::string date_text(std::int64_t seconds);

}  // namespace gpubench
