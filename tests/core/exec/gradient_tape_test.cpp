#include "core/exec/gradient_tape.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ops/elementwise.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

class GradientTapeTest : public testing::Test {
 protected:
  Tensor constant(float value) { return dispatcher_.constant(HostTensor::scalar(value)); }
  float scalar(const Tensor& tensor) { return dispatcher_.eager().download(tensor).values<float>()[0]; }
  Tensor square(const Tensor& x) { return dispatcher_.apply_one(std::make_shared<const Square>(), std::array{x}); }
  Tensor mul(const Tensor& a, const Tensor& b) {
    return dispatcher_.apply_one(std::make_shared<const Mul>(), std::array{a, b});
  }

  Devices devices_{DeviceConfig{}};
  Runtime runtime_{devices_};
  Dispatcher dispatcher_{runtime_};
};

TEST_F(GradientTapeTest, DifferentiatesWhatItRecorded) {
  const Tensor x = constant(3), y = constant(4), unused = constant(1);
  GradientTape tape(dispatcher_);
  const Tensor z = mul(square(x), y);  // 9 * 4
  const std::vector<Tensor> slopes = tape.gradient(z, std::array{x, y, unused});
  EXPECT_EQ(scalar(slopes[0]), 24.0F);
  EXPECT_EQ(scalar(slopes[1]), 9.0F);
  EXPECT_FALSE(slopes[2]);
}

TEST_F(GradientTapeTest, VariablesAreOneTensorHoweverTheyAreRead) {
  const VariablePtr v = runtime_.variables().create("v", HostTensor::scalar(5.0F), {});
  GradientTape tape(dispatcher_);
  const Tensor z = mul(dispatcher_.variable(v), dispatcher_.variable(v));
  EXPECT_EQ(scalar(tape.gradient(z, std::array{dispatcher_.variable(v)})[0]), 10.0F);
}

TEST_F(GradientTapeTest, InsideATraceItAddsToTheGraph) {
  const auto trace = dispatcher_.begin_trace();
  const Tensor x(trace, trace->graph.input({{}, Dtype::f32}, "x"));
  GradientTape tape(dispatcher_);
  const Tensor slope = tape.gradient(square(x), std::array{x})[0];
  dispatcher_.end_trace();
  const auto executor = make_executor(runtime_, std::move(trace->graph), {slope.value()});
  const HostTensor three = HostTensor::scalar(3.0F);
  const std::array inputs{three.view()};
  executor->run(inputs);
  EXPECT_EQ(executor->read(0).values<float>()[0], 6.0F);
}

TEST_F(GradientTapeTest, RefusesATargetItHasNotSeen) {
  GradientTape tape(dispatcher_);
  const Tensor x = constant(1);
  EXPECT_ERROR(testing::HasSubstr("was not computed while the tape was recording"), tape.gradient(x, std::array{x}));
}

}  // namespace
}  // namespace gpubench
