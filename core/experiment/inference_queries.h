// The queries that an inference is measured with: batches in host memory, loaded before the clock starts, as MLPerf's
// load generator loads its performance samples (Reddi et al., "MLPerf Inference Benchmark", 2020).
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/data/dataset.h"
#include "core/train/trainer.h"

namespace gpubench {

/// Batches of `batch` examples: the dataset's first 1024 examples, at least two batches of them where it has so many;
/// what is left over at the end is dropped. Without a dataset, random ones of the model's input types, in [0, 1) where
/// they are floating, else 0 or 1. In page-locked memory where the model's device copies faster from there. `what`
/// names the measurement in errors: a dataset of batches or on a device, or one that has no whole batch; no dataset and
/// an open input shape.
std::vector<Element> load_queries(Trainer& trainer, DatasetPtr examples, std::int64_t batch, std::string_view what);

}  // namespace gpubench
