// What an emulated accelerator is: twelve numbers, each with its source. The profiles that come with gpubench are the
// files profiles/*.profile, which are compiled into the program; a script describes another one with the same names.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpubench {

struct Profile {
  /// Its place in device names: "h200" in emulated:h200:0.
  std::string name;
  /// The driver's name of the accelerator: "NVIDIA H200".
  std::string product;
  /// Which kernels' times were compared with measured ones, from checked_from_s on; empty: none.
  std::string checked;

  double memory_bytes = 0;          ///< capacity
  double memory_bytes_per_s = 0;    ///< rate of element-wise kernels on large tensors
  double float32_flops_per_s = 0;   ///< rate of large float32 products
  double float16_flops_per_s = 0;   ///< rate of large products of 16 and of 8 bits
  double kernel_s = 0;              ///< time that every kernel takes beyond its work
  double ramp_s = 0;                ///< bends the curve of small products (kernel_seconds)
  double row_bytes = 0;             ///< length of the rows that softmax reads again from memory half of the times
  double launch_s = 0;              ///< time that a launch or the start of a copy takes the host
  double latency_s = 0;             ///< time of a copy or a message between devices beyond its bytes
  double pinned_bytes_per_s = 0;    ///< rate of copies between the device and page-locked host memory
  double pageable_bytes_per_s = 0;  ///< the same for ordinary host memory
  double peer_bytes_per_s = 0;      ///< rate between devices (bus bandwidth as nccl-tests defines it)
};

/// Kernels shorter than this were not compared with a GPU: the measured times that profiles are fitted to end here.
inline constexpr double checked_from_s = 50e-6;

/// A number of a profile, by name.
struct ProfileNumber {
  std::string_view name;  ///< "memory_bytes_per_s"
  double Profile::*member;
  double least, most;  ///< what is possible
};
inline constexpr std::array<ProfileNumber, 12> profile_numbers = {{
    {"memory_bytes", &Profile::memory_bytes, 1 << 20, 1e15},
    {"memory_bytes_per_s", &Profile::memory_bytes_per_s, 1e3, 1e18},
    {"float32_flops_per_s", &Profile::float32_flops_per_s, 1e3, 1e21},
    {"float16_flops_per_s", &Profile::float16_flops_per_s, 1e3, 1e21},
    {"kernel_s", &Profile::kernel_s, 0, 1},
    {"ramp_s", &Profile::ramp_s, 0, 1},
    {"row_bytes", &Profile::row_bytes, 1, 1e12},
    {"launch_s", &Profile::launch_s, 0, 1},
    {"latency_s", &Profile::latency_s, 0, 1},
    {"pinned_bytes_per_s", &Profile::pinned_bytes_per_s, 1e3, 1e18},
    {"pageable_bytes_per_s", &Profile::pageable_bytes_per_s, 1e3, 1e18},
    {"peer_bytes_per_s", &Profile::peer_bytes_per_s, 1e3, 1e18},
}};

/// Sets one number. Throws Error listing the names for an unknown one, and Error naming the possible range.
void set_number(Profile& profile, std::string_view number, double value);

/// A profile with the source of each number, in the order of profile_numbers.
struct SourcedProfile {
  Profile profile;
  std::array<std::string, profile_numbers.size()> sources;
};

/// Reads the text of a profile: lines "product: TEXT", "checked: TEXT" and "NUMBER = VALUE  # SOURCE"; empty lines are
/// skipped. `name`: of the profile, for messages. Throws Error naming the profile and the line for anything else, for a
/// number that is missing, has no source or comes twice, and for an impossible value.
SourcedProfile parse_profile(std::string_view name, std::string_view text);
/// The text that parse_profile reads.
std::string to_text(const SourcedProfile& profile);

/// Those that come with gpubench, by name.
std::span<const SourcedProfile> known_profiles();
/// Throws Error listing the names.
const SourcedProfile& known_profile(std::string_view name);

}  // namespace gpubench
