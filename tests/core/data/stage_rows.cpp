#include "tests/core/data/stage_rows.h"

#include <algorithm>
#include <unistd.h>

#include "core/data/cache/cache.h"
#include "core/data/interleave/interleave.h"
#include "core/data/map/map.h"
#include "core/data/source/random.h"
#include "core/data/source/range.h"
#include "core/data/source/synthetic.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/bucket.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/choose.h"
#include "core/data/stage/combine.h"
#include "core/data/stage/filter.h"
#include "core/data/stage/group_by_window.h"
#include "core/data/stage/ignore_errors.h"
#include "core/data/stage/padded_batch.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/scan.h"
#include "core/data/stage/shuffle.h"
#include "core/data/stage/throttle.h"
#include "core/data/stage/unbatch.h"
#include "core/data/stage/unique.h"
#include "core/data/stage/window.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/ragged.h"
#include "tests/core/data/reading.h"
#include "tests/support/device_configs.h"

namespace gpubench {
namespace {

std::shared_ptr<const ElementFunction> not_third() {
  return std::make_shared<Predicate>([](std::int64_t number) { return number % 3 != 0; }, 4);
}

/// A dataset that is made has no file yet, so that its first epoch is of the cursor that writes.
DatasetPtr cache_in_file(DatasetPtr source) {
  std::filesystem::remove(stage_cache_path());
  return cache(std::move(source), stage_cache_path());
}

DatasetPtr random_elements(bool resident) {
  return synthetic({.types = {{{}, Dtype::i64}, {{2}, Dtype::f32}}, .count = 40, .resident = resident, .seed = 5});
}

/// What stages do on devices with memory of their own is tested with those.
DevicePlace host_device() {
  static const auto devices = std::make_shared<const Devices>(support::without_gpus());
  return {devices, DeviceId{}};
}

const StageRow rows[] = {
    {"from_tensor_slices", [](DatasetPtr source) { return source; }, true},
    {"range", [](const DatasetPtr&) { return range(3, 80, 2); }},
    {"synthetic fresh", [](const DatasetPtr&) { return random_elements(false); }},
    {"synthetic resident", [](const DatasetPtr&) { return random_elements(true); }},
    {"throttle", [](DatasetPtr source) { return throttle(std::move(source), {.latency = Seconds(1e-6)}); }, true},
    {"shuffle", [](DatasetPtr source) { return shuffle(std::move(source), {.buffer = 7, .seed = 2}); }, true},
    {"map", [](DatasetPtr source) { return map(std::move(source), std::make_shared<Identity>()); }, true},
    {"batch", [](DatasetPtr source) { return batch(std::move(source), 3); }},
    {"batch of ragged",
     [](const DatasetPtr&) { return batch(map(batch(ragged(8), 1), std::make_shared<Identity>()), 1); }},
    {"padded_batch", [](const DatasetPtr&) { return padded_batch(ragged(40), {.size = 3}); }},
    {"bucket_by_sequence_length",
     [](const DatasetPtr&) {
       return bucket_by_sequence_length(ragged(40), {.boundaries = {3}, .batch_sizes = {3, 4}});
     }},
    {"window",
     [](DatasetPtr source) { return window(std::move(source), {.size = 3, .shift = 2, .drop_remainder = true}); }},
    {"window with gaps",
     [](DatasetPtr source) {
       return window(std::move(source), {.size = 2, .shift = 5, .stride = 2, .drop_remainder = true});
     }},
    {"unbatch", [](DatasetPtr source) { return unbatch(batch(std::move(source), 7)); }},
    {"filter", [](DatasetPtr source) { return filter(std::move(source), not_third()); }, true},
    {"take_while",
     [](DatasetPtr source) {
       return take_while(std::move(source), std::make_shared<Predicate>([](std::int64_t n) { return n < 33; }, 4));
     },
     true},
    {"scan",
     [](DatasetPtr source) { return scan(std::move(source), {HostTensor::scalar(std::int64_t{1})}, running_sum()); }},
    {"unique", [](DatasetPtr source) { return unique(map(std::move(source), modulo(17))); }},
    {"group_by_window",
     [](DatasetPtr source) {
       return group_by_window(std::move(source), {.key = modulo(3), .size = 4},
                              [](DatasetPtr window) { return batch(std::move(window), 3); });
     }},
    {"choose_from_datasets",
     [](DatasetPtr source) {
       return choose_from_datasets({source, skip(source, 5)}, map(range(0, 50), modulo(2)));
     }},
    {"sample_from_datasets",
     [](DatasetPtr source) {
       return sample_from_datasets({take(source, 9), source}, {1, 3}, {.seed = 3, .rerandomize_each_iteration = true});
     }},
    {"random", [](const DatasetPtr&) { return take(random_numbers({.seed = 4}), 30); }},
    {"repeat", [](DatasetPtr source) { return repeat(shuffle(std::move(source), {.buffer = 9}), 2); }, true},
    {"ignore_errors", [](DatasetPtr source) { return ignore_errors(map(std::move(source), fails_at(4, 1))); }, true},
    {"map by workers",
     [](DatasetPtr source) { return map(std::move(source), std::make_shared<Identity>(), {.workers = 2}); }, true},
    {"batch of a map by workers",
     [](DatasetPtr source) { return batch(map(std::move(source), std::make_shared<Identity>(), {.workers = 2}), 3); }},
    {"take", [](DatasetPtr source) { return take(std::move(source), 23); }, true},
    {"skip", [](DatasetPtr source) { return skip(std::move(source), 11); }, true},
    {"shard", [](DatasetPtr source) { return shard(std::move(source), 3, 1); }, true},
    {"zip",
     [](DatasetPtr source) {
       return zip({source, range(0, 30)});
     }},
    {"concatenate", [](DatasetPtr source) { return concatenate(take(source, 13), source); }, true},
    {"interleave",
     [](DatasetPtr source) {
       return interleave({take(source, 9), take(source, 20), source}, {.cycle_length = 2, .block_length = 3});
     },
     true},
    {"interleave parallel",
     [](DatasetPtr source) {
       return interleave({take(source, 9), take(source, 20), source},
                         {.cycle_length = 2, .block_length = 3, .parallel = 2});
     },
     true},
    {"interleave by more threads than the cycle has inputs",
     [](DatasetPtr source) {
       return interleave({take(source, 9), take(source, 20), source}, {.cycle_length = 1, .parallel = 3});
     },
     true},
    {"cache in memory", [](DatasetPtr source) { return cache(std::move(source)); }, true},
    {"cache of ragged", [](const DatasetPtr&) { return cache(ragged(30)); }},
    {"cache in a file", [](DatasetPtr source) { return cache_in_file(std::move(source)); }, true},
    {"prefetch", [](DatasetPtr source) { return prefetch(std::move(source), 3); }, true},
    {"prefetch_to_device", [](DatasetPtr source) { return prefetch_to_device(std::move(source), host_device(), 3); },
     true},
    {"prefetch of a pipeline",
     [](DatasetPtr source) {
       return prefetch(batch(map(shuffle(std::move(source), {.buffer = 9}), std::make_shared<Identity>()), 4), 2);
     }},
};

}  // namespace

std::filesystem::path stage_cache_path() {
  return std::filesystem::temp_directory_path() / ("stages-test-" + std::to_string(::getpid()) + ".cache");
}

void PrintTo(const StageRow& row, std::ostream* out) {
  *out << row.name;
}

std::span<const StageRow> stage_rows() {
  return rows;
}

std::string test_name(const StageRow& row) {
  std::string name = row.name;
  std::ranges::replace(name, ' ', '_');
  return name;
}

}  // namespace gpubench
