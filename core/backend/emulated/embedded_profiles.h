// The texts of profiles/*.profile, compiled into the program by CMake (embedded_profiles.cpp.in).
#pragma once
#include <span>
#include <string_view>
#include <utility>

namespace gpubench::embedded {

/// Name and text of each profile.
extern const std::span<const std::pair<std::string_view, std::string_view>> profiles;

}  // namespace gpubench::embedded
