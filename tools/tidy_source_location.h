// Included before every file that clang-tidy, clangd, or clang for libFuzzer reads: Clang 14 lacks a builtin of GCC
// 12's <source_location>, which then declares nothing. The program's compiler never reads this file.
#pragma once

#if !__has_builtin(__builtin_source_location)
namespace std {
struct source_location {
  static constexpr source_location current() noexcept { return {}; }
  constexpr unsigned line() const noexcept { return 0; }
  constexpr unsigned column() const noexcept { return 0; }
  constexpr const char* file_name() const noexcept { return ""; }
  constexpr const char* function_name() const noexcept { return ""; }
};
}  // namespace std
#endif
