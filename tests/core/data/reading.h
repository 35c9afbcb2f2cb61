// What the tests of stages share: small datasets whose rows tell their number, and reading them back.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/data/source/from_tensor_slices.h"

namespace gpubench {

/// Of this process.
inline std::ptrdiff_t thread_count() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

/// A thread that was joined may still be listed for a moment.
inline void expect_threads(std::ptrdiff_t most) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (thread_count() > most && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_LE(thread_count(), most);
}

/// Elements (int64 number, float32[width] {number, -number, number, ...}) for numbers 0 to count - 1.
inline DatasetPtr numbers(std::int64_t count, std::int64_t width = 2) {
  HostTensor ids(TensorType{{count}, Dtype::i64});
  HostTensor pairs(TensorType{{count, width}, Dtype::f32});
  for (std::int64_t i = 0; i < count; ++i) {
    ids.values<std::int64_t>()[static_cast<std::size_t>(i)] = i;
    for (std::int64_t k = 0; k < width; ++k) {
      pairs.values<float>()[static_cast<std::size_t>(width * i + k)] = static_cast<float>(k % 2 == 0 ? i : -i);
    }
  }
  return from_tensor_slices({ids, pairs});
}

/// The numbers of an epoch of numbers() or of batches of it, checked against the pairs beside them.
inline std::vector<std::int64_t> read(Cursor& cursor) {
  std::vector<std::int64_t> found;
  Element element;
  while (cursor.next(element)) {
    const auto ids = element[0].values<std::int64_t>();
    const auto pairs = element[1].values<float>();
    const std::size_t width = pairs.size() / std::max<std::size_t>(ids.size(), 1);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto beside = pairs.subspan(width * i, width);
      const bool matches = beside.front() == static_cast<float>(ids[i]) && beside.back() == static_cast<float>(-ids[i]);
      found.push_back(matches ? ids[i] : -1);
    }
  }
  return found;
}

inline std::vector<std::int64_t> read(const DatasetPtr& dataset, std::uint64_t epoch = 0) {
  return read(*dataset->open(epoch));
}

inline std::vector<std::int64_t> counting(std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(last - first));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

/// Hides that elements are rows of tensors, so that stages take the way of general elements.
class Opaque final : public Transformation {
 public:
  using Transformation::Transformation;
  std::string_view stage() const override { return "opaque"; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    class OpaqueCursor final : public Cursor {
     public:
      explicit OpaqueCursor(std::unique_ptr<Cursor> inner) : inner_(std::move(inner)) {}
      bool next(Element& element) override { return inner_->next(element); }
      std::vector<StageStatistics> statistics() const override { return inner_->statistics(); }

     private:
      std::unique_ptr<Cursor> inner_;
    };
    return std::make_unique<OpaqueCursor>(source().open(epoch, options));
  }
};

inline DatasetPtr opaque(DatasetPtr source) {
  return std::make_shared<Opaque>(std::move(source));
}

/// How a map takes elements: by their rows' numbers, side by side, or as they are.
enum class Taken { as_rows, packed, whole };
inline DatasetPtr numbers(std::int64_t count, Taken taken) {
  constexpr std::int64_t too_wide = 200;
  if (taken == Taken::as_rows) return numbers(count);
  return opaque(taken == Taken::packed ? numbers(count) : numbers(count, too_wide));
}
inline std::string to_string(Taken taken) {
  return taken == Taken::as_rows ? "Rows" : taken == Taken::packed ? "Packed" : "Whole";
}

/// Throws Error("element 3 is damaged") in place of element 3, say.
class Damaged final : public Transformation {
 public:
  Damaged(DatasetPtr source, std::int64_t position) : Transformation(std::move(source)), position_(position) {}
  std::string_view stage() const override { return "damaged"; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    class DamagedCursor final : public Cursor {
     public:
      DamagedCursor(std::unique_ptr<Cursor> inner, std::int64_t position)
          : inner_(std::move(inner)), position_(position) {}
      bool next(Element& element) override {
        if (count_++ == position_) throw Error("element " + std::to_string(position_) + " is damaged");
        return inner_->next(element);
      }
      std::vector<StageStatistics> statistics() const override { return inner_->statistics(); }

     private:
      std::unique_ptr<Cursor> inner_;
      std::int64_t position_;
      std::int64_t count_ = 0;
    };
    return std::make_unique<DamagedCursor>(source().open(epoch, options), position_);
  }

 private:
  std::int64_t position_;
};

}  // namespace gpubench
