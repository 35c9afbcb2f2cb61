// Stages for sequences: windows, buckets of similar lengths, batches of another size.
#include <optional>

#include "core/data/stage/batch.h"
#include "core/data/stage/bucket.h"
#include "core/data/stage/unbatch.h"
#include "core/data/stage/window.h"
#include "lua/api/data/named_size.h"
#include "lua/api/data/stages.h"

namespace gpubench::lua {
namespace {

struct WindowTable {
  std::optional<std::int64_t> size, shift;
  std::int64_t stride = 1;
  bool drop_remainder = false;
  static constexpr auto fields =
      std::tuple{field("size", &WindowTable::size), field("shift", &WindowTable::shift),
                 field("stride", &WindowTable::stride), field("drop_remainder", &WindowTable::drop_remainder)};
};

DatasetPtr windowed(const DatasetPtr& source, const SizeOrOptions<WindowTable>& size,
                    const std::optional<WindowTable>& options) {
  const WindowTable table = with_size(size, options, &WindowTable::size, "size");
  return window(source, {.size = *table.size,
                         .shift = table.shift.value_or(*table.size),
                         .stride = table.stride,
                         .drop_remainder = table.drop_remainder});
}

struct BucketTable {
  std::vector<std::int64_t> bucket_boundaries, bucket_batch_sizes;
  std::vector<double> padding_values;
  bool pad_to_bucket_boundary = false;
  bool drop_remainder = false;
  static constexpr auto fields = std::tuple{required("bucket_boundaries", &BucketTable::bucket_boundaries),
                                            required("bucket_batch_sizes", &BucketTable::bucket_batch_sizes),
                                            field("padding_values", &BucketTable::padding_values),
                                            field("pad_to_bucket_boundary", &BucketTable::pad_to_bucket_boundary),
                                            field("drop_remainder", &BucketTable::drop_remainder)};
};

DatasetPtr bucketed(const DatasetPtr& source, const BucketTable& table) {
  return bucket_by_sequence_length(source, {.boundaries = table.bucket_boundaries,
                                            .batch_sizes = table.bucket_batch_sizes,
                                            .values = table.padding_values,
                                            .pad_to_boundary = table.pad_to_bucket_boundary,
                                            .drop_remainder = table.drop_remainder});
}

struct RebatchTable {
  std::optional<std::int64_t> batch_size;
  bool drop_remainder = false;
  static constexpr auto fields = std::tuple{field("batch_size", &RebatchTable::batch_size),
                                            field("drop_remainder", &RebatchTable::drop_remainder)};
};

DatasetPtr rebatched(const DatasetPtr& source, const SizeOrOptions<RebatchTable>& size,
                     const std::optional<RebatchTable>& options) {
  const RebatchTable table = with_size(size, options, &RebatchTable::batch_size, "batch_size");
  return batch(unbatch(source), *table.batch_size, table.drop_remainder);
}

}  // namespace

void add_sequences(Class<Dataset>& dataset) {
  dataset.method<&windowed>("window").method<&bucketed>("bucket_by_sequence_length").method<&rebatched>("rebatch");
}

}  // namespace gpubench::lua
