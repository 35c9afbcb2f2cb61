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
  /// Where the last stage that makes elements of its own puts them (a device's host memory); nullptr: anywhere. It must
  /// outlive the cursor and its elements.
  MemoryPool* memory = nullptr;
  /// Chooses workers and buffers while the epoch runs (see open_pipeline); none: stages keep what they start with.
  std::shared_ptr<Tuner> tuner{};
  /// Whether parallel stages that were not told keep their sources' order; absent: they do.
  std::optional<bool> deterministic{};
  /// Asked while waiting for a slow source: after a stop elements come at once, since nobody wants them.
  std::stop_token stop{};
  /// Whether elements may lie in the memory of a device (Element::device tells of which); else such a dataset
  /// throws Error.
  bool on_devices = false;

  /// What a stage that makes elements of its own asks of its sources.
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
  /// Elements of an epoch: none when that cannot be known beforehand, `endless` when it never ends.
  virtual std::optional<std::int64_t> size() const = 0;
  /// How many examples an element stands for: a batch's size, where elements are batches. Of several sources, the most.
  virtual std::int64_t examples_per_element() const;
  /// In whose memory elements lie, where the host cannot read them; nullptr: in the host's.
  virtual const DeviceId* device() const { return sources().empty() ? nullptr : sources().front()->device(); }
  /// Of a part that shard() took: random ops of maps draw for an element as they would in the whole.
  virtual ElementShare share() const { return sources().empty() ? ElementShare{} : sources().front()->share(); }
  /// Whether an epoch's elements come in the same order each time, so that a position tells which were taken;
  /// `deterministic` is what stages are told that do not say themselves.
  virtual bool in_order(std::optional<bool> deterministic = {}) const;
  virtual std::unique_ptr<Cursor> open(std::uint64_t epoch = 0, const CursorOptions& options = {}) const = 0;
  /// The same elements in batches, for a stage that writes its results straight into a batch; nullptr: it does not.
  virtual std::unique_ptr<Cursor> open_batches(const BatchShape& /*batch*/, std::uint64_t /*epoch*/,
                                               const CursorOptions& /*options*/) const {
    return nullptr;
  }

  /// 0, 1, ...: epoch numbers for loops that do not count epochs themselves.
  std::uint64_t next_epoch() const { return next_epoch_.fetch_add(1, std::memory_order_relaxed); }
  /// The next one is behind `epoch`.
  void go_on_behind(std::uint64_t epoch) const;
  /// What the epochs that were opened as pipelines leave behind: statistics, and settings for the next epoch.
  const std::shared_ptr<EpochRecord>& record() const { return record_; }

 private:
  std::shared_ptr<EpochRecord> record_;
  mutable std::atomic<std::uint64_t> next_epoch_{0};
};

/// Throws Error in the name of `operation` where elements come in any order.
void require_order(const Dataset& dataset, std::string_view operation);

/// For stages that work in host memory: throws Error "batch: its source's elements are on gpu:0; put the map behind the
/// batch".
void require_host_elements(const Dataset& source, std::string_view stage);
/// For stages whose elements lie on `device`: throws Error unless the consumer takes such elements, so that no host
/// code reads device memory.
void require_taker(const CursorOptions& options, std::string_view stage, const DeviceId& device);

/// The tree in one line: "from_tensor_slices > shuffle(buffer=10000 seed=1) > batch(size=32)".
std::string describe(const Dataset& dataset);

/// What the stages with one source have in common; unless overridden, types and size are the source's.
class Transformation : public Dataset {
 public:
  explicit Transformation(DatasetPtr source) : source_(std::move(source)) {}
  std::span<const DatasetPtr> sources() const override { return {&source_, 1}; }
  const std::vector<TensorType>& element_types() const override { return source_->element_types(); }
  std::optional<std::int64_t> size() const override { return source_->size(); }

  enum class Effect {
    one_to_one,   ///< each element of the source gives one, in its place
    by_position,  ///< their positions alone tell which elements come, and when
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
