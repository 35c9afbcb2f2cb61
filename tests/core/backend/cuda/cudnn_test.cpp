// cuDNN's failures as exceptions.
#include "core/backend/cuda/cudnn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/backend/cuda/cuda_backend.h"
#include "core/device/device.h"
#include "core/ops/softmax.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/expect_error.h"

namespace gpubench::cuda {
namespace {

TEST(CudnnTest, ErrorsCarryTheCallAndTheLibrarysReason) {
  const TensorDescriptor tensor;
  const auto set = [&](int rows) {
    check(cudnn().set_tensor_4d_descriptor(tensor.get(), CUDNN_TENSOR_NCHW, CUDNN_DATA_HALF, rows, 4, 1, 1),
          "cudnnSetTensor4dDescriptor");
  };
  EXPECT_NO_THROW(set(3));
  EXPECT_ERROR_OF(
      DeviceError,
      testing::HasSubstr("cuDNN: cudnnSetTensor4dDescriptor failed: CUDNN_STATUS_BAD_PARAM: an extent below 1"),
      set(0));
}

TEST(CudnnTest, AGpuThatIsLostIsSaidToBe) {
  const CudaBackend backend(BackendConfig{});
  Device& device = *backend.devices()[0];
  device.bind_to_thread();
  const Softmax op;
  const std::vector<TensorType> types = {{{3, 4}, Dtype::f32}};
  const auto kernel = backend.plan(op, {types, types}, device);
  EXPECT_EQ(kernel->implementation(), "cudnn:softmax");
  const Buffer memory = device.memory().allocate(types[0].bytes(), "rows");
  const std::array views{TensorView{&types[0], memory.data()}};
  cuda_on_cpu::fail_after(0, cudaErrorIllegalAddress);
  EXPECT_THROW(kernel->run(device.stream(), views, views, {}), DeviceLost);
  cuda_on_cpu::mend();
  EXPECT_NO_THROW(kernel->run(device.stream(), views, views, {}));
  device.stream().synchronize();
}

}  // namespace
}  // namespace gpubench::cuda
