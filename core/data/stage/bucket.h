// Batches of elements of similar length: each goes to the bucket of its length, and a bucket with enough elements
// becomes a padded batch. The length is the first extent of the element's first tensor.
//
//   bucket_by_sequence_length(sentences, {.boundaries = {16, 64}, .batch_sizes = {64, 16, 4}})
#pragma once
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

struct BucketOptions {
  /// Ascending: bucket i has lengths from boundaries[i - 1] to boundaries[i] - 1; one more bucket has the longer ones.
  std::vector<std::int64_t> boundaries{};
  /// One for each bucket.
  std::vector<std::int64_t> batch_sizes{};
  /// Padding values, one per tensor; empty: zeros.
  std::vector<double> values{};
  /// Pads to the bucket's largest length instead of the batch's, so that there are as many shapes as buckets; longer
  /// elements than the last boundary allows are an Error during the epoch.
  bool pad_to_boundary = false;
  /// Drops the buckets that are incomplete at the end; else they follow in ascending order.
  bool drop_remainder = false;
};

/// Throws Error if options do not match each other or the elements.
DatasetPtr bucket_by_sequence_length(DatasetPtr source, BucketOptions options);

}  // namespace gpubench
