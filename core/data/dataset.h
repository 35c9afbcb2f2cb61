// A node of an immutable tree of stages: every open() starts an epoch of its own, and the same dataset and epoch number
// give the same elements.
#pragma once
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/cursor.h"
#include "core/data/types.h"
#include "core/device/memory_pool.h"

namespace gpubench {

class Dataset;
using DatasetPtr = std::shared_ptr<const Dataset>;

/// The size of a dataset that never ends.
inline constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

/// A setting that is chosen, and changed, while the pipeline runs.
inline constexpr std::int64_t autotune = -1;

class Tuner;
class EpochRecord;

/// Which elements of a whole a dataset has: `index`, `index + count`, and so on.
struct ElementShare {
  std::int64_t count = 1;
  std::int64_t index = 0;
};

/// What a consumer asks of the cursors that it opens.
struct CursorOptions {
  /// Memory for the elements of the last stage that makes new ones (a device's host memory); nullptr: the heap. It must
  /// outlive the cursor and its elements.
  MemoryPool* memory = nullptr;
  /// Changes workers and buffers while the epoch runs (see open_pipeline); nullptr: stages keep their first settings.
  std::shared_ptr<Tuner> tuner{};
  /// Whether parallel stages without a setting of their own keep their source's order; absent: they do.
  std::optional<bool> deterministic{};
  /// A stop ends all waiting for slow sources: the consumer does not want more elements.
  std::stop_token stop{};
  /// Whether elements may lie in the memory of a device (Element::device); false: opening such a dataset throws Error.
  bool on_devices = false;

  /// The options for the sources of a stage that makes new elements.
  CursorOptions for_sources() const {
    CursorOptions options = *this;
    options.memory = nullptr;
    options.on_devices = false;
    return options;
  }
};

struct BatchShape {
  std::int64_t size = 0;  ///< elements
  bool drop_remainder = false;
};

class Dataset {
 public:
  Dataset();
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
  /// Number of elements of an epoch: nullopt when it cannot be known beforehand, `endless` when it never ends.
  virtual std::optional<std::int64_t> size() const = 0;
  /// Number of examples in an element: the batch size where elements are batches, else 1. With several sources, the
  /// largest of theirs.
  virtual std::int64_t examples_per_element() const;
  /// The device in whose memory elements lie; nullptr: host memory.
  virtual const DeviceId* device() const { return sources().empty() ? nullptr : sources().front()->device(); }
  /// The part that shard() has taken. Random ops of maps draw the same numbers for an element as without shard().
  virtual ElementShare share() const { return sources().empty() ? ElementShare{} : sources().front()->share(); }
  /// Whether the elements of an epoch come in the same order each time it is opened. `deterministic` is for stages
  /// without a setting of their own.
  virtual bool in_order(std::optional<bool> deterministic = {}) const;
  virtual std::unique_ptr<Cursor> open(std::uint64_t epoch = 0, const CursorOptions& options = {}) const = 0;
  /// The same elements in batches, for a stage that writes its results straight into a batch; nullptr: it does not.
  virtual std::unique_ptr<Cursor> open_batches(const BatchShape& /*batch*/, std::uint64_t /*epoch*/,
                                               const CursorOptions& /*options*/) const {
    return nullptr;
  }

  /// Epoch numbers 0, 1, ... for loops that do not count epochs themselves.
  std::uint64_t next_epoch() const { return next_epoch_.fetch_add(1, std::memory_order_relaxed); }
  /// The next epoch number will be greater than `epoch`.
  void go_on_behind(std::uint64_t epoch) const;
  /// Statistics of the last epoch that was opened as a pipeline, and settings for the next one.
  const std::shared_ptr<EpochRecord>& record() const { return record_; }

 private:
  std::shared_ptr<EpochRecord> record_;
  mutable std::atomic<std::uint64_t> next_epoch_{0};
};

/// Throws Error naming `operation` unless the dataset is in order.
void require_order(const Dataset& dataset, std::string_view operation);

/// For stages that work in host memory: throws Error "batch: its source's elements are on gpu:0; put the map behind the
/// batch".
void require_host_elements(const Dataset& source, std::string_view stage);
/// For stages whose elements lie on `device`: throws Error unless the consumer takes such elements, so that no host
/// code reads device memory.
void require_taker(const CursorOptions& options, std::string_view stage, const DeviceId& device);

/// The tree in one line: "from_tensor_slices > shuffle(buffer=10000 seed=1) > batch(size=32)".
std::string describe(const Dataset& dataset);

/// A stage with one source; unless overridden, types and size are the source's.
class Transformation : public Dataset {
 public:
  explicit Transformation(DatasetPtr source) : source_(std::move(source)) {}
  std::span<const DatasetPtr> sources() const override { return {&source_, 1}; }
  const std::vector<TensorType>& element_types() const override { return source_->element_types(); }
  std::optional<std::int64_t> size() const override { return source_->size(); }

  enum class Effect {
    one_to_one,   ///< each element of the source gives one, in its place
    by_position,  ///< chooses and orders elements by their positions alone
    other
  };
  virtual Effect effect() const { return Effect::other; }
  /// The same stage with the same settings over elements of the same types; nullptr where it cannot have another
  /// source. Throws what making the stage throws.
  virtual DatasetPtr with_source(DatasetPtr /*source*/) const { return nullptr; }

 protected:
  const Dataset& source() const { return *source_; }

 private:
  DatasetPtr source_;
};

}  // namespace gpubench
