// A node of an immutable tree of stages: every open() starts an epoch of its own, and the same dataset and epoch number
// give the same elements.
#pragma once
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/cursor.h"
#include "core/device/memory_pool.h"
#include "core/tensor/tensor_type.h"

namespace gpubench {

class Dataset;
using DatasetPtr = std::shared_ptr<const Dataset>;

/// An extent of an element's shape that differs from element to element.
inline constexpr std::int64_t varying = -1;
/// The size of a dataset that never ends.
inline constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

/// What a consumer asks of the cursors that it opens.
struct CursorOptions {
  /// Where the last stage that makes elements of its own puts them (a device's host memory); nullptr: anywhere. It must
  /// outlive the cursor and its elements.
  MemoryPool* memory = nullptr;
};

class Dataset {
 public:
  Dataset() = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  virtual ~Dataset() = default;

  /// "shuffle": what the stage is called in Lua, statistics and reports.
  virtual std::string_view stage() const = 0;
  /// The settings of this stage: "buffer=10000 seed=1".
  virtual std::string settings() const { return {}; }
  virtual std::span<const DatasetPtr> sources() const { return {}; }
  /// Types of an element's tensors; extents may be `varying`.
  virtual const std::vector<TensorType>& element_types() const = 0;
  /// Elements of an epoch: none when that cannot be known beforehand, `endless` when it never ends.
  virtual std::optional<std::int64_t> size() const = 0;
  virtual std::unique_ptr<Cursor> open(std::uint64_t epoch = 0, const CursorOptions& options = {}) const = 0;

  /// 0, 1, ...: epoch numbers for loops that do not count epochs themselves. The only thing a Dataset remembers.
  std::uint64_t next_epoch() const { return next_epoch_.fetch_add(1, std::memory_order_relaxed); }

 private:
  mutable std::atomic<std::uint64_t> next_epoch_{0};
};

/// Whether no extent varies.
bool is_fixed(std::span<const TensorType> types);
/// "float32[?, 784]": a varying extent is "?".
std::string to_text(const TensorType& type);
/// "(float32[784], float32[10])".
std::string to_string(std::span<const TensorType> types);
/// The tree in one line: "from_tensor_slices > shuffle(buffer=10000 seed=1) > batch(size=32)".
std::string describe(const Dataset& dataset);

/// What the stages with one source have in common; unless overridden, types and size are the source's.
class Transformation : public Dataset {
 public:
  explicit Transformation(DatasetPtr source) : source_(std::move(source)) {}
  std::span<const DatasetPtr> sources() const override { return {&source_, 1}; }
  const std::vector<TensorType>& element_types() const override { return source_->element_types(); }
  std::optional<std::int64_t> size() const override { return source_->size(); }

 protected:
  const Dataset& source() const { return *source_; }

 private:
  DatasetPtr source_;
};

}  // namespace gpubench
