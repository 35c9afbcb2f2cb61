#include "core/data/stage/distribute.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/data/file_dataset.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/data/tune/pipeline.h"

namespace gpubench {
namespace {

constexpr EnumNames<Sharding, 4> shardings{"distribute: unknown shard", {"auto", "file", "element", "off"}};
constexpr EnumNames<BatchOf, 2> batches{"distribute: unknown batch", {"global", "per_replica"}};

/// The stages from the dataset's end to its batch, without the batch.
struct Batched {
  std::vector<const Transformation*> behind;
  const Batching* batch = nullptr;

  DatasetPtr with(DatasetPtr source, std::int64_t size) const {
    DatasetPtr dataset = batch->resized(std::move(source), size);
    for (auto stage = behind.rbegin(); stage != behind.rend(); ++stage) {
      dataset = (*stage)->with_source(std::move(dataset));
    }
    return dataset;
  }
};

/// A batch that is divided among processes may only pass through stages that treat its parts alike.
void require_alike(const Transformation& stage) {
  if (stage.keeps_file()) {
    throw Error(
        fmt::format("distribute: cache({}) behind the batch would keep another part for each process under one name; "
                    "put it before the batch",
                    stage.settings()));
  }
  if (stage.effect() == Transformation::Effect::other || !stage.with_source(stage.sources().front())) {
    throw Error(
        fmt::format("distribute: {} behind the batch may do otherwise for each process's part of it; put it "
                    "before the batch",
                    stage.stage()));
  }
}

Batched find_batch(const Dataset& dataset) {
  Batched found;
  const Dataset* at = &dataset;
  while ((found.batch = dynamic_cast<const Batching*>(at)) == nullptr) {
    const auto* stage = dynamic_cast<const Transformation*>(at);
    if (at->sources().empty() || (stage != nullptr && stage->effect() == Transformation::Effect::splits)) {
      throw Error(
          fmt::format("distribute: the dataset is not batched, so that there is nothing to share; batch it first: {}",
                      describe(dataset)));
    }
    if (stage == nullptr) {
      throw Error(
          fmt::format("distribute: it cannot look through {} for the batches to share; batch behind it", at->stage()));
    }
    require_alike(*stage);
    found.behind.push_back(stage);
    at = stage->sources().front().get();
  }
  return found;
}

/// Batches are paired by position, which must mean the same for processes with and without a last batch.
void require_equal_counts(const Batched& batched, std::int64_t global_batch, int processes) {
  if (batched.batch->drop_remainder()) return;
  const std::optional<std::int64_t> elements = batched.batch->sources().front()->size();
  const std::int64_t rest = elements && *elements != endless ? *elements % global_batch : 0;
  if (elements && (rest == 0 || rest >= processes)) return;
  for (const Transformation* stage : batched.behind) {
    if (stage->effect() != Transformation::Effect::by_position || stage->counts_elements()) continue;
    const std::string last = elements ? fmt::format("of {} rows", rest) : "of unknown size";
    throw Error(
        fmt::format("distribute: the last batch, {}, may leave some of {} processes without rows, and {} behind "
                    "it would then pair other batches; put {} before the batch, or set drop_remainder = true",
                    last, processes, stage->stage(), stage->stage()));
  }
}

DatasetPtr by_element(const DatasetPtr& at, const Batched& batched, const DistributeOptions& options,
                      std::optional<bool> deterministic) {
  const auto* const stage = dynamic_cast<const Transformation*>(at.get());
  if (stage != nullptr && stage->effect() == Transformation::Effect::one_to_one) {
    return stage->with_source(by_element(stage->sources().front(), batched, options, deterministic));
  }
  if (!at->in_order(deterministic)) {
    throw Error(
        fmt::format("distribute: elements come as threads have them ready, so that processes do not agree whose "
                    "they are; deterministic = true keeps their order: {}",
                    describe(*at)));
  }
  const std::optional<std::int64_t> elements = at->size();
  if (elements && *elements < options.processes) {
    throw Error(fmt::format("distribute: {} elements cannot be shared by {} processes, of which each needs one",
                            *elements, options.processes));
  }
  const Rounds rounds = batched.batch->drop_remainder() ? Rounds::complete : Rounds::any;
  return shard(at, options.processes, options.rank, rounds);
}

/// Why the dataset cannot be sharded by file; empty if it can.
std::string obstacle_to_files(const Dataset& dataset, int processes) {
  const auto* const files = dynamic_cast<const FileDataset*>(&dataset);
  if (files != nullptr && files->files() >= processes) return {};
  if (files != nullptr && files->files() > 0) {
    return fmt::format("{} reads {} for {} processes, of which each needs one", dataset.stage(),
                       files->files() == 1 ? "one file" : fmt::format("{} files", files->files()), processes);
  }
  const auto* const stage = dynamic_cast<const Transformation*>(&dataset);
  if (stage == nullptr) {
    return fmt::format(
        "{} reads no files that could be shared (tfrecord, csv, image_folder and list_files do, and "
        "interleave of these)",
        dataset.stage());
  }
  const DatasetPtr& source = stage->sources().front();
  if (stage->counts_elements()) return fmt::format("{} counts the elements of all files together", stage->stage());
  if (stage->keeps_file()) {
    return fmt::format("cache({}) would keep another part for each process under one name", stage->settings());
  }
  if (!stage->with_source(source)) return fmt::format("it cannot look through {}", stage->stage());
  return obstacle_to_files(*source, processes);
}

DatasetPtr by_file(const DatasetPtr& at, const DistributeOptions& options) {
  if (const auto* files = dynamic_cast<const FileDataset*>(at.get())) {
    return files->every(options.processes, options.rank);
  }
  const auto& stage = dynamic_cast<const Transformation&>(*at);
  return stage.with_source(by_file(stage.sources().front(), options));
}

/// Whether skipping elements means reading them: not if each file is one element.
bool files_hold_elements(const Dataset& dataset) {
  if (dataset.interleaves()) return true;
  const auto* const files = dynamic_cast<const FileDataset*>(&dataset);
  if (files != nullptr || dataset.sources().empty()) return files != nullptr && !files->file_is_element();
  return files_hold_elements(*dataset.sources().front());
}

bool takes_files(const Dataset& dataset, const DistributeOptions& options) {
  if (options.shard == Sharding::element) return false;
  if (options.shard == Sharding::automatic && !files_hold_elements(dataset)) return false;
  const std::string obstacle = obstacle_to_files(dataset, options.processes);
  if (!obstacle.empty() && options.shard == Sharding::file) {
    throw Error(fmt::format("distribute: shard = 'file': {}; shard = 'element' is possible", obstacle));
  }
  return obstacle.empty();
}

void check(const DistributeOptions& options) {
  if (options.processes < 1 || options.rank < 0 || options.rank >= options.processes) {
    throw Error(
        fmt::format("distribute: process {} of {}; processes are counted from 0", options.rank, options.processes));
  }
  if (options.replicas < 1) {
    throw Error(fmt::format("distribute: {} replicas; at least 1 is needed", options.replicas));
  }
}

/// Size of the batches that this process gets.
std::int64_t process_batch(std::int64_t size, bool split, const DistributeOptions& options) {
  if (options.batch == BatchOf::per_replica) return size * options.replicas;
  if (!split) return size;
  if (size % options.processes == 0) return size / options.processes;
  const std::int64_t below = size / options.processes * options.processes;
  throw Error(fmt::format("distribute: batches of {} cannot be shared evenly by {} processes; {}{} can", size,
                          options.processes, below > 0 ? fmt::format("{} or ", below) : "", below + options.processes));
}

}  // namespace

Sharding parse_sharding(std::string_view name) {
  return shardings.parse(name);
}
BatchOf parse_batch_of(std::string_view name) {
  return batches.parse(name);
}
DatasetPtr distribute(DatasetPtr dataset, const DistributeOptions& options) {
  check(options);
  const bool split = options.processes > 1 && options.shard != Sharding::off && !dataset->is_sharded();
  const bool grows = options.batch == BatchOf::per_replica && options.replicas > 1;
  if (!split && !grows) return dataset;
  const Batched batched = find_batch(*dataset);
  const std::int64_t size = process_batch(batched.batch->batch_size(), split, options);
  const DatasetPtr& elements = batched.batch->sources().front();
  if (!split) return batched.with(elements, size);
  if (takes_files(*elements, options)) return batched.with(by_file(elements, options), size);
  require_equal_counts(batched, size * options.processes, options.processes);
  return batched.with(by_element(elements, batched, options, options_of(*dataset).deterministic), size);
}

}  // namespace gpubench
