// Memory that CUPTI writes records into, reserved before: the callbacks that hand it out and take it back run inside
// CUDA calls of the work that is measured.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace gpubench {

class ActivityBuffers {
 public:
  ActivityBuffers(std::size_t count, std::size_t bytes);

  /// nullptr when all are in use: CUPTI then drops records, and counts them.
  std::uint8_t* take();
  std::size_t bytes() const { return bytes_; }
  /// Keeps a buffer whose first `valid` bytes hold records. Without any it is free again.
  void give_back(std::uint8_t* buffer, std::size_t valid);

  struct Filled {
    std::uint8_t* memory;
    std::size_t valid;
  };
  /// Those given back with records so far, in their order.
  std::vector<Filled> filled() const;
  /// Frees them.
  void clear();

 private:
  std::size_t bytes_;
  mutable std::mutex mutex_;
  /// Records want to lie at multiples of 8 bytes.
  std::vector<std::unique_ptr<std::uint64_t[]>> memory_;
  std::vector<std::uint8_t*> free_;
  std::vector<Filled> filled_;
};

}  // namespace gpubench
