// A node of an immutable tree of stages. Every open() starts a new epoch; the same dataset and epoch number give the
// same elements.
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

/// The size of an infinite dataset.
inline constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

/// A setting that the tuner chooses and changes while the pipeline runs.
inline constexpr std::int64_t autotune = -1;

class Tuner;
class EpochRecord;

/// A dataset's part of all elements: `index`, `index + count`, `index + 2 * count`, ...
struct ElementShare {
  std::int64_t count = 1;
  std::int64_t index = 0;
};

/// A consumer's options for the cursors that it opens.
struct CursorOptions {
  /// Memory for the elements of the last stage that creates new ones (a device's host memory); nullptr: the heap. It
  /// must outlive the cursor and its elements.
  MemoryPool* memory = nullptr;
  /// Changes workers and buffers while the epoch runs (see open_pipeline); nullptr: stages keep their first settings.
  std::shared_ptr<Tuner> tuner{};
  /// Whether parallel stages without their own setting keep their source's order; absent: yes.
  std::optional<bool> deterministic{};
  /// A stop request ends all waits for slow sources, because the consumer needs no more elements.
  std::stop_token stop{};
  /// Whether elements may lie in device memory (Element::device); if false, opening such a dataset throws Error.
  bool on_devices = false;

  /// The options for the sources of a stage that creates new elements.
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
  /// Throws Error where the sources have too many stages for the calls that go through all of them.
  explicit Dataset(std::span<const DatasetPtr> sources = {});
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  virtual ~Dataset() = default;

  /// The stage's name in Lua, statistics and reports: "shuffle".
  virtual std::string_view stage() const = 0;
  /// The settings of this stage: "buffer=10000 seed=1".
  virtual std::string settings() const { return {}; }
  virtual std::span<const DatasetPtr> sources() const { return {}; }
  /// Types of an element's tensors; extents may be `varying`.
  virtual const std::vector<TensorType>& element_types() const = 0;
  /// Number of elements per epoch: nullopt if unknown beforehand, `endless` if infinite.
  virtual std::optional<std::int64_t> size() const = 0;
  /// Number of examples in an element: the batch size if elements are batches, else 1. With several sources, the
  /// largest of theirs.
  virtual std::int64_t examples_per_element() const;
  /// The device whose memory holds the elements; nullptr: host memory.
  virtual const DeviceId* device() const { return sources().empty() ? nullptr : sources().front()->device(); }
  /// The part that shard() selects. Random ops of maps draw the same numbers for an element as without shard().
  virtual ElementShare share() const { return sources().empty() ? ElementShare{} : sources().front()->share(); }
  /// Whether shard() selects a part of the elements that this dataset is made from.
  virtual bool is_sharded() const;
  /// Whether elements are interleaved from several inputs, which count as one source.
  virtual bool interleaves() const { return false; }
  /// Whether elements come in the same order each time an epoch is opened. `deterministic` applies to stages without
  /// their own setting.
  virtual bool in_order(std::optional<bool> deterministic = {}) const;
  virtual std::unique_ptr<Cursor> open(std::uint64_t epoch = 0, const CursorOptions& options = {}) const = 0;
  /// The same elements in batches, for a stage that writes its results directly into a batch; nullptr if it cannot.
  virtual std::unique_ptr<Cursor> open_batches(const BatchShape& /*batch*/, std::uint64_t /*epoch*/,
                                               const CursorOptions& /*options*/) const {
    return nullptr;
  }

  /// Whether this dataset or one of its sources has been marked as one process's part.
  bool is_distributed() const;
  void mark_distributed() const { distributed_.store(true, std::memory_order_relaxed); }

  /// Epoch numbers 0, 1, ... for loops that do not count epochs themselves.
  std::uint64_t next_epoch() const { return next_epoch_.fetch_add(1, std::memory_order_relaxed); }
  /// Makes the next epoch number greater than `epoch`.
  void go_on_behind(std::uint64_t epoch) const;
  /// Statistics of the last epoch that was opened as a pipeline, and settings for the next one.
  const std::shared_ptr<EpochRecord>& record() const { return record_; }

 private:
  std::shared_ptr<EpochRecord> record_;
  std::int64_t depth_ = 1;   // of the tree of stages
  std::int64_t stages_ = 1;  // in the tree; a shared one counts as often as it is there
  mutable std::atomic<std::uint64_t> next_epoch_{0};
  mutable std::atomic<bool> distributed_{false};
};

/// Throws Error naming `operation` if elements do not come in a fixed order.
void require_order(const Dataset& dataset, std::string_view operation);

/// For stages that work in host memory: throws Error "batch: its source's elements are on gpu:0; put the map behind the
/// batch".
void require_host_elements(const Dataset& source, std::string_view stage);
/// For stages whose elements lie on `device`: throws Error if the consumer does not accept such elements, so that no
/// host code reads device memory.
void require_taker(const CursorOptions& options, std::string_view stage, const DeviceId& device);

/// The tree in one line: "from_tensor_slices > shuffle(buffer=10000 seed=1) > batch(size=32)".
std::string describe(const Dataset& dataset);

/// A stage with one source; unless overridden, types and size are the source's.
class Transformation : public Dataset {
 public:
  explicit Transformation(DatasetPtr source)
      : Dataset(std::span<const DatasetPtr>(&source, 1)), source_(std::move(source)) {}
  std::span<const DatasetPtr> sources() const override { return {&source_, 1}; }
  const std::vector<TensorType>& element_types() const override { return source_->element_types(); }
  std::optional<std::int64_t> size() const override { return source_->size(); }

  enum class Effect {
    one_to_one,   ///< each source element gives one element, in the same position
    by_position,  ///< selects and orders elements by position only
    splits,       ///< each source element gives several
    other
  };
  virtual Effect effect() const { return Effect::other; }
  /// Whether the stage counts elements, so that missing files shift its selection (take, skip).
  virtual bool counts_elements() const { return false; }
  /// Whether the stage keeps its elements in a named file, which several processes would share.
  virtual bool keeps_file() const { return false; }
  /// The same stage and settings over another source with equal element types; nullptr if that is impossible. Throws as
  /// the stage's constructor does.
  virtual DatasetPtr with_source(DatasetPtr /*source*/) const { return nullptr; }

 protected:
  const Dataset& source() const { return *source_; }

 private:
  DatasetPtr source_;
};

}  // namespace gpubench
