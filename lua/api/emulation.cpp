// gb.config.set_custom_profile and gb._native.emulation: profiles of emulated accelerators, and how they are fitted to
// measured kernels.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/backend/emulated/emulated_backend.h"
#include "core/backend/emulated/kernel_time.h"
#include "core/base/error.h"
#include "core/device/device.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/api/types.h"
#include "lua/bind/bind.h"
#include "lua/bind/options.h"
#include "lua/bind/variant.h"

namespace gpubench::lua {
namespace {

using ProfileNumbers = std::map<std::string, double>;

ProfileNumbers numbers_of(const Profile& profile) {
  ProfileNumbers numbers;
  for (const ProfileNumber& one : profile_numbers) numbers[std::string(one.name)] = profile.*one.member;
  return numbers;
}

/// ProfileNumbers of a profile by name, and the texts `like` (the profile from which missing numbers are taken) and
/// `product`.
using ProfileTable = std::map<std::string, std::variant<double, std::string>>;

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const SourcedProfile& one : known_profiles()) names.push_back(one.profile.name);
  return names;
}

std::optional<std::string> profile_text(const ProfileTable& table, const std::string& key) {
  const auto found = table.find(key);
  if (found == table.end()) return std::nullopt;
  if (const auto* const text = std::get_if<std::string>(&found->second)) return *text;
  throw ArgumentError(fmt::format("option '{}': string expected, got a number", key));
}

Profile profile_of(const ProfileTable& table) {
  const std::optional<std::string> like = profile_text(table, "like");
  Profile made;
  if (like) made = known_profile(*like).profile;
  for (const auto& [name, value] : table) {
    if (name == "like" || name == "product") continue;
    const auto* const number = std::get_if<double>(&value);
    if (number == nullptr) throw ArgumentError(fmt::format("option '{}': number expected, got a string", name));
    set_number(made, name, *number);
  }
  for (const ProfileNumber& one : profile_numbers) {
    if (like || table.contains(std::string(one.name))) continue;
    throw ArgumentError(fmt::format("the number '{}' is missing; option 'like' takes missing ones from one of {}",
                                    one.name, fmt::join(profile_names(), ", ")));
  }
  // Accelerators that differ have names that differ: the best rates of a device are kept by its description.
  std::string differences;
  for (const auto& [name, value] : table) {
    if (const auto* const number = std::get_if<double>(&value)) differences += fmt::format(" {}={:.4g}", name, *number);
  }
  const std::string plain = like ? "accelerator like " + made.product : "accelerator";
  made.product = profile_text(table, "product").value_or(plain + (differences.empty() ? "" : " with" + differences));
  made.name = EmulatedBackend::custom_name;
  made.checked.clear();
  return made;
}

void set_custom_profile(lua_State* L, const ProfileTable& table) {
  Profile profile = profile_of(table);
  session_of(L)
      .placement.configure("gb.config.set_custom_profile")[DeviceId::Kind::emulated]
      .own<EmulatedOptions>()
      .custom = std::move(profile);
}

/// A measured kernel; see KernelWork.
struct SampleTable {
  std::string kind;
  double flops = 0, bytes = 0, seconds = 0, row_bytes = 0;
  bool half = false;
  static constexpr auto fields =
      std::tuple{required("kind", &SampleTable::kind),        required("flops", &SampleTable::flops),
                 required("bytes", &SampleTable::bytes),      required("seconds", &SampleTable::seconds),
                 field("row_bytes", &SampleTable::row_bytes), field("half", &SampleTable::half)};
};

std::vector<KernelSample> kernel_samples(const std::vector<SampleTable>& tables) {
  std::vector<KernelSample> samples;
  for (const SampleTable& one : tables) {
    samples.push_back({{parse_kernel_kind(one.kind), one.flops, one.bytes, one.row_bytes, one.half}, one.seconds});
  }
  return samples;
}

/// emulation.fit(profile, samples): the numbers of the profile, fitted to the samples.
ProfileNumbers fitted(const ProfileTable& start, const std::vector<SampleTable>& samples) {
  return numbers_of(fit_profile(profile_of(start), kernel_samples(samples)));
}

/// emulation.median_error(profile, samples): the median of |predicted / measured - 1|.
double error_of(const ProfileTable& profile, const std::vector<SampleTable>& samples) {
  if (samples.empty()) throw ArgumentError("at least one sample is needed");
  return median_error(profile_of(profile), kernel_samples(samples));
}

/// emulation.text(profile, sources): a profile as the program's own ones are written.
std::string written(const ProfileTable& table, const std::map<std::string, std::string>& sources) {
  SourcedProfile made{profile_of(table), {}};
  for (std::size_t i = 0; i < profile_numbers.size(); ++i) {
    const auto source = sources.find(std::string(profile_numbers[i].name));
    made.sources[i] = source == sources.end() ? "as " + profile_text(table, "like").value_or("given") : source->second;
  }
  return to_text(made);
}

/// emulation.profile(name): its numbers.
ProfileNumbers known_numbers(const std::string& name) {
  return numbers_of(known_profile(name).profile);
}

std::vector<std::string> profiles() {
  return profile_names();
}

/// emulation.profile_in_use(name): its numbers; those of the script for "custom", nil where it has set none.
std::optional<ProfileNumbers> profile_in_use(lua_State* L, const std::string& name) {
  if (name != EmulatedBackend::custom_name) return known_numbers(name);
  const DeviceConfig& config = session_of(L).placement.config();
  const auto own = config.find(DeviceId::Kind::emulated);
  if (own == config.end()) return std::nullopt;
  const std::optional<Profile> custom = own->second.own<EmulatedOptions>().custom;
  return custom ? std::optional(numbers_of(*custom)) : std::nullopt;
}

/// emulation.in_use(): what the outputs say of each emulated device that the current point has used.
std::map<std::string, std::string> in_use(lua_State* L) {
  std::map<std::string, std::string> texts;
  Session& session = session_of(L);
  if (!session.placement.started()) return texts;
  const Devices& devices = session.placement.world()->devices;
  for (const DeviceId& id : devices.ids()) {
    if (const std::string text = devices.device(id).emulation(); !text.empty()) texts[to_string(id)] = text;
  }
  return texts;
}

}  // namespace

void open_emulation(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("config").function<&set_custom_profile>("set_custom_profile");
  const Module native = gb.submodule("_native");
  const Module emulation = native.submodule("emulation");
  emulation.function<&fitted>("fit")
      .function<&error_of>("median_error")
      .function<&written>("text")
      .function<&known_numbers>("profile")
      .function<&profile_in_use>("profile_in_use")
      .function<&profiles>("profiles")
      .function<&in_use>("in_use");
}

}  // namespace gpubench::lua
