// The records of TFRecord files, as byte strings uint8[?].
//
//   map(tfrecord({"train-*.tfrecord"}), parse_example(features))
#pragma once
#include <span>
#include <string>

#include "core/codec/tfrecord.h"
#include "core/data/dataset.h"

namespace gpubench {

/// Checks lengths and checksums. `files` are paths and patterns; throws Error if one matches nothing.
DatasetPtr tfrecord(std::span<const std::string> files, TfrecordCompression compression = TfrecordCompression::none);

}  // namespace gpubench
