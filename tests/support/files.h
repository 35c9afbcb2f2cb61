// A folder for a test's files that goes away with it, and bytes put together by hand.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
namespace gpubench {

/// A folder of its own for each test, removed at the end.
class TemporaryFolder : public ::testing::Test {
 protected:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gpubench-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file(const std::string& name) const { return folder_ / name; }
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }
  static std::string contents(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path folder_;
};

template <class T>
std::string little(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <class T>
std::string big(T value) {
  std::string bytes = little(value);
  return {bytes.rbegin(), bytes.rend()};
}

}  // namespace gpubench
