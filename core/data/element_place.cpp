#include "core/data/element_place.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

/// The stage behind which elements are on a device.
const Dataset& mover(const Dataset& dataset) {
  const Dataset& source = *dataset.sources().front();
  return source.device() == nullptr ? dataset : mover(source);
}

}  // namespace

void require_host_elements(const Dataset& source, std::string_view stage) {
  if (source.device() == nullptr) return;
  throw Error(fmt::format("{}: its source's elements are on {}; put the {} behind the {}", stage,
                          to_string(*source.device()), mover(source).stage(), stage));
}

void require_taker(const CursorOptions& options, std::string_view stage, const DeviceId& device) {
  if (options.on_devices) return;
  throw Error(fmt::format("{}: its elements are on {}, and what reads the dataset works in host memory", stage,
                          to_string(device)));
}

}  // namespace gpubench
