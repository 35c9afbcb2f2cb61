#include "core/fleet/common_nights.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <map>

namespace gpubench {
namespace {

constexpr std::int64_t hour = 3600, day = 24 * hour;
/// Nights nearer to each other are one.
constexpr std::int64_t least_interval = 60;
/// The schedule is that of the last nights.
constexpr std::int64_t recent_nights = 10;
/// Nights that a clock may be ahead of all others.
constexpr std::int64_t most_ahead = 2;
constexpr std::size_t fewest_hosts = 3;

std::int64_t usual_interval(const std::vector<HostNight>& nights) {
  std::map<std::size_t, std::vector<std::int64_t>> of_host;
  for (const HostNight& one : nights) of_host[one.host].push_back(one.started);
  std::vector<std::int64_t> gaps;
  for (auto& [host, times] : of_host) {
    std::ranges::sort(times);
    for (std::size_t i = 1; i < times.size(); ++i) gaps.push_back(times[i] - times[i - 1]);
  }
  if (gaps.empty()) return day;
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>((gaps.size() - 1) / 2);
  std::ranges::nth_element(gaps, middle);
  // A night that begins a few minutes later than the one before is still a nightly one.
  const std::int64_t days = (*middle + day / 2) / day;
  if (days > 0 && std::abs(*middle - days * day) < 3 * hour) return days * day;
  return std::max(*middle, least_interval);
}

std::int64_t remainder(std::int64_t time, std::int64_t interval) {
  const std::int64_t rest = time % interval;
  return rest < 0 ? rest + interval : rest;
}

/// The middle of the longest time of the interval in which no host begins.
std::int64_t longest_pause(const std::vector<HostNight>& nights, std::int64_t interval) {
  std::int64_t last = nights.front().started;
  for (const HostNight& one : nights) last = std::max(last, one.started);
  std::vector<std::int64_t> phases;
  for (const HostNight& one : nights)
    if (one.started > last - recent_nights * interval) phases.push_back(remainder(one.started, interval));
  std::ranges::sort(phases);
  std::int64_t longest = phases.front() + interval - phases.back();
  std::int64_t middle = phases.back() + longest / 2;
  for (std::size_t i = 1; i < phases.size(); ++i) {
    const std::int64_t pause = phases[i] - phases[i - 1];
    if (pause > longest) {
      longest = pause;
      middle = phases[i - 1] + pause / 2;
    }
  }
  return remainder(middle, interval);
}

/// The number of the last night that counts, and who is beyond it.
std::int64_t last_number(const std::vector<HostNight>& nights, const std::vector<std::int64_t>& numbers,
                         std::vector<std::size_t>& ahead) {
  std::map<std::size_t, std::int64_t> latest;
  for (std::size_t i = 0; i < nights.size(); ++i) {
    const auto [place, is_new] = latest.emplace(nights[i].host, numbers[i]);
    place->second = std::max(place->second, numbers[i]);
  }
  std::vector<std::pair<std::int64_t, std::size_t>> hosts;
  for (const auto& [host, number] : latest) hosts.emplace_back(number, host);
  std::ranges::sort(hosts);
  while (hosts.size() >= fewest_hosts && hosts.back().first - hosts[hosts.size() - 2].first > most_ahead) {
    ahead.push_back(hosts.back().second);
    hosts.pop_back();
  }
  return hosts.back().first;
}

}  // namespace

CommonNights common_nights(const std::vector<HostNight>& nights) {
  CommonNights all;
  all.night.resize(nights.size());
  if (nights.empty()) return all;
  all.interval = usual_interval(nights);
  const std::int64_t pause = longest_pause(nights, all.interval);
  std::vector<std::int64_t> numbers;
  for (const HostNight& one : nights) {
    const std::int64_t from = one.started - pause;
    numbers.push_back((from - remainder(from, all.interval)) / all.interval);
  }
  const std::int64_t last = last_number(nights, numbers, all.ahead);
  std::map<std::int64_t, std::int64_t> first_start;
  for (std::size_t i = 0; i < nights.size(); ++i) {
    if (numbers[i] > last) continue;
    const auto [place, is_new] = first_start.emplace(numbers[i], nights[i].started);
    place->second = std::min(place->second, nights[i].started);
  }
  std::map<std::int64_t, std::size_t> place_of;
  for (const auto& [number, started] : first_start) {
    place_of.emplace(number, all.started.size());
    all.started.push_back(started);
  }
  for (std::size_t i = 0; i < nights.size(); ++i)
    if (const auto found = place_of.find(numbers[i]); found != place_of.end()) all.night[i] = found->second;
  return all;
}

std::optional<std::int64_t> seconds_of(std::string_view started) {
  int year = 0, month = 0, of_month = 0, hours = 0, minutes = 0, seconds = 0;
  const std::string text(started);
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d", &year, &month, &of_month, &hours, &minutes, &seconds) != 6)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(of_month))};
  if (!date.ok()) return std::nullopt;
  return std::int64_t{std::chrono::sys_days(date).time_since_epoch().count()} * day + hours * hour + minutes * 60 +
         seconds;
}

std::string date_text(std::int64_t seconds) {
  const std::chrono::year_month_day date{
      std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(seconds)))};
  return fmt::format("{:04}-{:02}-{:02}", int(date.year()), unsigned(date.month()), unsigned(date.day()));
}

}  // namespace gpubench
