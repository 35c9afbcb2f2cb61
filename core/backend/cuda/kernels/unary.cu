// Element-wise functions of one number, and the gradients of activations.
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/math/unary.h"

namespace gpubench::cuda {

#define GPUBENCH_LAUNCH(name, Type, domain, flops)             \
  template <>                                                  \
  ElementwiseLaunch elementwise_launch<math::Type>() {         \
    return &launch_function<math::Type, math::Domain::domain>; \
  }
GPUBENCH_UNARY_FUNCTIONS(GPUBENCH_LAUNCH)
#undef GPUBENCH_LAUNCH

}  // namespace gpubench::cuda
