// Who may have elements that lie in a device's memory. Stages that work in host memory refuse them when they are made,
// and a consumer only gets them when it said that it takes them, so that nobody reads what the host cannot read.
#pragma once
#include <string_view>

#include "core/data/dataset.h"

namespace gpubench {

/// Throws Error "batch: its source's elements are on gpu:0; put the map behind the batch".
void require_host_elements(const Dataset& source, std::string_view stage);

/// For stages whose elements lie on `device`: throws Error unless the consumer takes such elements.
void require_taker(const CursorOptions& options, std::string_view stage, const DeviceId& device);
}  // namespace gpubench
