// How an evaluation or a prediction goes through its dataset. Both are Trainer's (inference.cpp).
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "core/tensor/host_tensor.h"

namespace gpubench {

struct Inference {
  std::int64_t steps = 0;  ///< the most batches; 0: all
  /// Called before each batch. If the dataset's size is not known, none may follow.
  std::function<void(std::int64_t batch)> before{};
  /// Called after each batch, with the outputs of a prediction. False ends it.
  std::function<bool(std::int64_t batch, std::span<const HostTensor> outputs)> after{};
};

}  // namespace gpubench
