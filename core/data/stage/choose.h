// Elements of several datasets, each of the one that a choice names.
//
//   choose_from_datasets({a, b}, choice)                   // the elements of `choice` are 0 and 1
//   sample_from_datasets({a, b}, {0.9, 0.1}, {.seed = 1})  // random choices
#pragma once
#include <vector>

#include "core/data/dataset.h"
#include "core/data/source/random.h"

namespace gpubench {

/// What an empty dataset does when an element of it is wanted.
enum class OnEmpty { passes_over, ends_epoch };

/// Each element is the next one of the dataset whose index is the next element of `choice`, an int64[] from 0. The
/// epoch ends with `choice`, or when all datasets are empty. Extents that differ become varying. Throws Error if the
/// elements differ otherwise; an index out of range is an Error during the epoch.
DatasetPtr choose_from_datasets(std::vector<DatasetPtr> datasets, DatasetPtr choice,
                                OnEmpty on_empty = OnEmpty::ends_epoch);

/// The same with random choices. Without weights, each dataset is as likely as others; those of weight 0 are left out.
/// Throws Error unless there is a weight for each dataset, none negative, one above 0.
DatasetPtr sample_from_datasets(std::vector<DatasetPtr> datasets, std::vector<double> weights,
                                const RandomOptions& options, OnEmpty on_empty = OnEmpty::passes_over);

}  // namespace gpubench
