#include "core/train/batch_size_search.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/device/device.h"
#include "core/train/step_memory.h"

namespace gpubench {
namespace {

constexpr std::string_view operation = "find_batch_size";
constexpr std::int64_t largest_known = std::int64_t{1} << 24;  // where nothing else ends the search
constexpr int steps_of_trial = 3;                              // a device's two slots are filled, and one again

std::string text_of(std::size_t bytes) {
  return format_bytes(static_cast<double>(bytes));
}

class Search {
 public:
  Search(Trainer& trainer, const BatchSource& batches, const BatchSizeOptions& options)
      : trainer_(trainer),
        batches_(batches),
        options_(options),
        part_(trainer.config().gradient_accumulation_steps),
        most_(options.largest > 0 ? options.largest : largest_known) {}

  BatchSizeSearch run() {
    if (trainer_.config().train_step) {
      throw Error(
          fmt::format("{}: it takes steps of training and takes them back, and model '{}' has a train_step whose "
                      "optimizers are the script's; give a number",
                      operation, trainer_.model().name()));
    }
    trainer_.release_plans(operation);
    const std::vector<DeviceMemory> smallest = predict(part_);
    require_limit(smallest);
    trainer_.prepare_training(batch_types(*batches_(part_)));
    shared_ = trainer_.runtime().arena_bytes(device_);
    others_ = pool().use().in_use - shared_;
    if (needed(smallest) > result_.limit) refuse_smallest(needed(smallest));

    // The limit for predictions; lowered once a trial has used more than predicted.
    std::size_t room = std::min(result_.limit, in_one_piece());
    for (int attempts = 0; attempts < options_.most_trials; ++attempts) {
      const std::int64_t size = largest_within(room);
      if (size < part_) break;
      const BatchSizeTrial trial = attempt(size);
      if (given_ > 0 && given_ < size) {  // all that there are
        most_ = given_;
        continue;
      }
      result_.trials.push_back(trial);
      if (trial.fits) {
        result_.batch_size = size;
        return std::move(result_);
      }
      room = smaller_room(trial, room);
    }
    fail();
  }

 private:
  std::vector<DeviceMemory> predict(std::int64_t batch_size) {
    return predict_training_memory(trainer_, batch_types(*batches_(batch_size)));
  }

  MemoryPool& pool_of(const DeviceId& id) { return trainer_.runtime().devices().device(id).memory(); }
  MemoryPool& pool() { return pool_of(device_); }
  /// The devices on which a step takes memory.
  std::vector<DeviceId> devices() const {
    return trainer_.config().replicas ? trainer_.config().replicas->options().devices : std::vector{device_};
  }
  const std::string& name() const { return trainer_.model().name(); }

  void require_limit(const std::vector<DeviceMemory>& smallest) {
    if (smallest.size() != 1) {
      throw Error(fmt::format("find_batch_size: model '{}' is on {} devices; the search knows one limit, of one device",
                              name(), smallest.size()));
    }
    device_ = smallest[0].device;
    for (const DeviceId& id : devices()) {  // of replicas, the one with the least memory
      const std::size_t limit = pool_of(id).use().limit, least = pool().use().limit;
      if (limit != 0 && (least == 0 || limit < least)) device_ = id;
    }
    result_.limit = options_.limit != 0 ? options_.limit : pool().use().limit;
    if (result_.limit == 0) {
      throw Error(
          fmt::format("find_batch_size: {} has no limit of memory; give one in bytes, "
                      "or set one by gb.config.set_memory_limit",
                      to_string(device_)));
    }
    const std::size_t variables =
        smallest[0].bytes_of(MemoryKind::variables) + smallest[0].bytes_of(MemoryKind::optimizer);
    if (variables <= result_.limit) return;
    throw Error(
        fmt::format("find_batch_size: the limit of {} is below the {} that the variables of model '{}' and of its "
                    "optimizer take alone; no batch fits",
                    text_of(result_.limit), text_of(variables), name()));
  }

  [[noreturn]] void refuse_smallest(std::size_t bytes) const {
    throw Error(
        fmt::format("find_batch_size: model '{}' needs {} for a batch of {}, the smallest there is; the limit is {}",
                    name(), text_of(bytes), part_, text_of(result_.limit)));
  }

  [[noreturn]] void fail() const {
    std::string tried;
    for (const BatchSizeTrial& trial : result_.trials) {
      tried += fmt::format("{}{} ({})", tried.empty() ? "" : ", ", trial.batch_size,
                           trial.used == 0 ? "out of memory" : text_of(trial.used));
    }
    throw Error(fmt::format("find_batch_size: no batch of model '{}' was found to fit {}; {}", name(),
                            text_of(result_.limit),
                            tried.empty() ? "none was near enough to be tried" : "tried " + tried));
  }

  /// In use without a plan, with the largest tensor that the pool can still hand out: a plan's arena is one. The arena
  /// of other models' plans makes room for it.
  std::size_t in_one_piece() {
    pool().trim();
    const MemoryUse use = pool().use();
    if (use.limit == 0) return std::numeric_limits<std::size_t>::max();
    const bool grows = pool().options().growth && use.limit > use.reserved;
    const std::size_t ungrown = grows ? use.limit - use.reserved + shared_ : shared_;
    return others_ + std::max(use.largest_free, ungrown);
  }

  /// Including the existing variables and all other allocations. Plans of all models share one arena.
  std::size_t needed(const std::vector<DeviceMemory>& memory) const {
    return others_ + std::max(shared_, memory[0].arena) + memory[0].bytes_of(MemoryKind::inputs) +
           memory[0].bytes_of(MemoryKind::constants);
  }
  std::size_t needed_for(std::int64_t batch_size) {
    try {
      return needed(predict(batch_size));
    } catch (const OverRecomputeBudget&) {
      return std::numeric_limits<std::size_t>::max();
    }
  }

  /// The largest batch that is predicted to need no more than `room`; 0 when there is none.
  std::int64_t largest_within(std::size_t room) {
    const std::int64_t most = most_ / part_;
    std::int64_t fits = 0, too_many = 1;  // in parts
    while (too_many <= most && needed_for(too_many * part_) <= room) {
      fits = too_many;
      too_many = fits == most ? most + 1 : std::min(2 * fits, most);
    }
    while (too_many - fits > 1) {
      const std::int64_t middle = fits + (too_many - fits) / 2;
      (needed_for(middle * part_) <= room ? fits : too_many) = middle;
    }
    return fits * part_;
  }

  /// Two ways to be wrong: more was used than predicted, or memory ended before the limit.
  static std::size_t smaller_room(const BatchSizeTrial& trial, std::size_t room) {
    constexpr std::size_t parts_kept = 9, of = 10;
    // Unpredicted memory may grow with the batch, as the buffers of a pipeline do.
    if (trial.used > trial.predicted) {
      const double foreseen = static_cast<double>(trial.predicted) / static_cast<double>(trial.used);
      return static_cast<std::size_t>(static_cast<double>(room) * foreseen);
    }
    return std::min(room, trial.predicted) / of * parts_kept;
  }

  BatchSizeTrial attempt(std::int64_t batch_size) {
    BatchSizeTrial trial{.batch_size = batch_size, .predicted = needed_for(batch_size)};
    const std::vector<VariablePtr> variables = changed_by_steps();
    VariableStore& store = trainer_.runtime().variables();
    std::vector<HostTensor> before;
    trainer_.runtime().synchronize();
    for (const VariablePtr& variable : variables) before.push_back(store.read(*variable));
    try {
      for (const DeviceId& id : devices()) pool_of(id).reset_peak();
      step_through(batch_size);
      for (const DeviceId& id : devices()) trial.used = std::max(trial.used, pool_of(id).use().peak);
      trial.fits = trial.used <= result_.limit;
    } catch (const OutOfMemory&) {  // the batch does not fit
    } catch (...) {
      restore(variables, before);
      throw;
    }
    restore(variables, before);
    return trial;
  }

  void restore(const std::vector<VariablePtr>& variables, const std::vector<HostTensor>& values) {
    trainer_.release_plans(operation);
    for (std::size_t i = 0; i < variables.size(); ++i) trainer_.runtime().variables().write(*variables[i], values[i]);
  }

  std::vector<VariablePtr> changed_by_steps() {
    std::vector<VariablePtr> variables = trainer_.model().variables();
    for (auto& more :
         {trainer_.config().optimizer->state_of(trainer_.model().trainable_variables()), trainer_.metric_variables()}) {
      variables.insert(variables.end(), more.begin(), more.end());
    }
    if (const LossScalePtr& scale = trainer_.config().loss_scale) {
      for (const VariablePtr& variable : scale->variables()) variables.push_back(variable);
    }
    return variables;
  }

  void step_through(std::int64_t batch_size) {
    const DatasetPtr dataset = batches_(batch_size);
    StepLoop steps = trainer_.training_loop();
    const std::unique_ptr<Cursor> cursor = trainer_.open(*dataset);
    int taken = 0;
    given_ = 0;
    while (taken < steps_of_trial && steps.step(*cursor)) {
      if (taken++ == 0) given_ = steps.examples();
    }
    trainer_.runtime().synchronize();
    steps.release();
    if (given_ > 0 && given_ <= batch_size) return;
    if (given_ == 0) {
      throw Error(
          fmt::format("find_batch_size: the dataset gives no batch of {} examples; it has fewer, or none", batch_size));
    }
    throw Error(fmt::format("find_batch_size: the dataset was to have batches of {} examples; its first has {}",
                            batch_size, given_));
  }

  Trainer& trainer_;
  const BatchSource& batches_;
  const BatchSizeOptions& options_;
  const std::int64_t part_;
  DeviceId device_;
  std::int64_t most_;       // examples that there are, as far as is known
  std::int64_t given_ = 0;  // examples in the latest trial's first batch; 0 where memory ended before
  std::size_t shared_ = 0;  // the arena that other models' plans hold
  std::size_t others_ = 0;  // in use before a plan is made, besides
  BatchSizeSearch result_;
};

}  // namespace

BatchSizeSearch find_batch_size(Trainer& trainer, const BatchSource& batches, const BatchSizeOptions& options) {
  return Search(trainer, batches, options).run();
}

}  // namespace gpubench
