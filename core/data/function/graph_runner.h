// Runs a graph of one element over blocks of elements, on the calling thread alone, results written where the consumer
// wants them; element by element where an op has no form for blocks.
#pragma once
#include <memory>

#include "core/data/device/device_place.h"
#include "core/data/function/element_function.h"
#include "core/passes/pass.h"

namespace gpubench {

/// The last input of `element` is the element's number, int64[]; the others are the element's tensors. Throws Error
/// where the CPU has no kernel.
std::unique_ptr<ElementRunner> graph_runner(Program element);
/// On the place's device, which works in host memory, with its threads.
std::unique_ptr<ElementRunner> graph_runner(Program element, const DevicePlace& place);

}  // namespace gpubench
